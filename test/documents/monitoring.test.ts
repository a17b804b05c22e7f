// The alert rules and the dashboard in src/monitoring: whatever they ask for, a running gateway tells. What promtool says of
// them is asked where it is installed (Debian's package prometheus).

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { freePort } from '../../src/net/free-port.ts';
import { startProcess } from '../support/gateway/process.ts';
import { type Samples, samples } from '../support/load/metrics.ts';
import { root } from '../support/root.ts';

const directory = join(root, 'src/monitoring');
const run = promisify(execFile);

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string };
}
interface Panel {
  title: string;
  type: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: { uid: string };
  targets?: { expr: string; datasource: { uid: string } }[];
}

const alerts = parse(await readFile(join(directory, 'alerts.yml'), 'utf8')) as { groups: { rules: Rule[] }[] };
const dashboard = JSON.parse(await readFile(join(directory, 'grafana.json'), 'utf8')) as { panels: Panel[] };
const rules = alerts.groups.flatMap((group) => group.rules);
const targets = dashboard.panels.flatMap((panel) =>
  (panel.targets ?? []).map(({ expr, datasource }) => ({ title: panel.title, expr, datasource })),
);

/** What an expression of PromQL asks for: names of series, each with the labels that it looks at. */
function asked(expr: string): { name: string; labels: string[] }[] {
  const bare = expr.replace(/"[^"]*"/g, '""').replace(/\b(by|on|ignoring|without) \([^)]*\)/g, ' ');
  return [...bare.matchAll(/\b([a-z_]\w*)\b(?!\s*\()(?:\{([^}]*)\})?/gi)]
    .filter(([, name = '']) => !/^(and|or|unless|\d+[smhd]|[smhd]|__rate_interval)$/.test(name))
    .filter(({ index }) => !/[[$]\S*$/.test(bare.slice(0, index)) && !/\{[^}]*$/.test(bare.slice(0, index)))
    .map(([, name = '', inner = '']) => ({
      name,
      labels: [...inner.matchAll(/(\w+)\s*=~?/g)].map(([, label = '']) => label),
    }));
}

/** Labels that Prometheus itself gives to what it collects. */
const GIVEN = ['job', 'instance'];

let told: Samples;
beforeAll(async () => {
  const gateway = await startProcess({ DNS_PORT: String(await freePort('127.0.0.1')) });
  await gateway.call('GET', '/'); // Requests to the API are told by their status, of those there were.
  told = await samples(gateway.admin);
  await gateway.kill('SIGTERM');
  await gateway.place.remove();
}, 60_000);

describe('a running gateway tells', () => {
  const expressions = [
    ...rules.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
    ...targets.map(({ title, expr }) => [`panel ${title}`, expr] as const),
  ];
  test.each(expressions)('what is asked for by %s: %s', (_, expr) => {
    const wanted = asked(expr).filter(({ name }) => name !== 'up');
    if (!/\bup\b/.test(expr)) expect(wanted.length).toBeGreaterThan(0);
    for (const { name, labels } of wanted) {
      const series = told.series(name);
      expect(series.length, name).toBeGreaterThan(0);
      const known = [...GIVEN, ...Object.keys(series[0]?.labels ?? {})];
      expect(
        labels.filter((label) => !known.includes(label)),
        `labels of ${name}`,
      ).toEqual([]);
    }
  });
});

test('the README’s table has no metric that there is not, and all that rules and panels ask for', async () => {
  const section =
    /## Monitoring\n([\s\S]*)/.exec(await readFile(join(root, 'src/manual/operating.md'), 'utf8'))?.[1] ?? '';
  const rows = [...section.matchAll(/^\| (`.*?`) \| /gm)].map(([, names = '']) => names);
  const named = rows.flatMap((names) => [...names.matchAll(/`(\w+)/g)].map(([, name = '']) => name));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !told.names.has(name))).toEqual([]);
  const own = [...rules, ...targets]
    .flatMap(({ expr }) => asked(expr).map(({ name }) => name.replace(/_(bucket|count|sum)$/, '')))
    .filter((name) => /^(gateway|tunnel|event|events|api)_/.test(name));
  expect([...new Set(own)].filter((name) => !named.includes(name))).toEqual([]);
});

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
