// The alert rules and the dashboard in src/monitoring, as they are. What promtool says of them is asked where it is installed (Debian's
// package prometheus); that a running gateway tells what they ask for, test/ops/idle-process.test.ts asks.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { stringify } from 'yaml';
import { asked, dashboard, directory, rules, targets } from '../support/monitoring.ts';

const run = promisify(execFile);

test('expressions are taken apart as they are meant', () => {
  expect(asked('sum by (le, kind) (rate(a_bucket{kind=~"https?", x="y"}[5m])) / on (job) b_total > 3 * 86400')).toEqual(
    [
      { name: 'a_bucket', labels: ['kind', 'x'] },
      { name: 'b_total', labels: [] },
    ],
  );
});

test('every alert has a severity and says in one line where and what', () => {
  expect(rules.length).toBeGreaterThan(10);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, labels, annotations } of rules) {
    expect(['critical', 'warning'], alert).toContain(labels.severity);
    expect(annotations.summary.length, alert).toBeGreaterThan(20);
  }
});

test('the dashboard asks the data source that one chooses, and no panel lies on another', () => {
  for (const { datasource } of targets) expect(datasource.uid).toBe(`\${datasource}`);
  const taken = new Set<string>();
  for (const { title, gridPos } of dashboard.panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(taken.has(`${x} ${y}`), title).toBe(false);
        taken.add(`${x} ${y}`);
      }
  }
});

const hasPromtool = await run('promtool', ['--version']).then(
  () => true,
  () => false,
);
if (!hasPromtool)
  process.stderr.write('promtool is not there (apt-get install prometheus): it does not look at the alert rules.\n');

describe.runIf(hasPromtool)('promtool', () => {
  let temporary: string;
  beforeAll(async () => {
    temporary = await mkdtemp(join(inject('run'), 'promtool-'));
  });
  afterAll(() => rm(temporary, { recursive: true }));

  test('finds the rules right', async () => {
    const { stdout } = await run('promtool', ['check', 'rules', 'alerts.yml'], { cwd: directory });
    expect(stdout).toContain(`${rules.length} rules found`);
  });

  test('sees them silent at a gateway that is well, and each heard where something is wrong', async () => {
    const { stdout } = await run('promtool', ['test', 'rules', 'alerts.test.yml'], { cwd: directory });
    expect(stdout).toContain('SUCCESS');
    const tests = await readFile(join(directory, 'alerts.test.yml'), 'utf8');
    expect(rules.filter(({ alert }) => !tests.includes(`alertname="${alert}"`))).toEqual([]);
  });

  test('can read what the dashboard asks', async () => {
    const file = join(temporary, 'dashboard.yml');
    const asRules = targets.map(({ expr }, at) => ({
      record: `panel_${at}`,
      expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'),
    }));
    await writeFile(file, stringify({ groups: [{ name: 'dashboard', rules: asRules }] }));
    const { stdout } = await run('promtool', ['check', 'rules', file]);
    expect(stdout).toContain(`${targets.length} rules found`);
  });
});
