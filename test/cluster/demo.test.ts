// `npm run cluster` and `npm run demo`: each runs to its end, and leaves nothing behind, the first also when it is interrupted.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { onMaintenance, onServer, serverUrl } from '../support/gateway/place.ts';
import { root } from '../support/root.ts';

const STORY_MS = 120_000;

/** Starts a demo. @returns what it prints, line by line, and its end. */
async function start(env: Record<string, string> = {}, script = 'src/boot/cluster.js') {
  const directory = await mkdtemp(join(inject('run'), 'demo-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const child = spawn(process.execPath, [join(root, script)], {
    env: { ...process.env, TEST_DATABASE_URL: serverUrl, TMPDIR: directory, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGTERM'));
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  return { child, exited, lines: createInterface({ input: child.stdout }), errors, directory };
}

type Demo = Awaited<ReturnType<typeof start>>;

/** Expects that no file, process or database of it is left. */
async function isGone({ directory }: Demo, database: string, listeners: string[]): Promise<void> {
  expect(await readdir(directory)).toEqual([]);
  expect((await onMaintenance(`SELECT 1 FROM pg_database WHERE datname = '${database}'`)).rows).toEqual([]);
  for (const listener of listeners) await expect(fetch(`${listener}/livez`)).rejects.toThrow();
}

const databaseIn = (text: string) => /gateway_story_\w+/.exec(text)?.[0] ?? '';
const adminsIn = (text: string) => [...text.matchAll(/ admin=(\S+)/g)].map(([, address = '']) => address);

test.skipIf(onServer)('the demo of one gateway is told to its end', { timeout: STORY_MS }, async () => {
  const demo = await start({}, 'src/boot/demo.js');
  const lines: string[] = [];
  for await (const line of demo.lines) lines.push(line);
  expect(await demo.exited, [...lines, ...demo.errors].join('\n')).toBe(0);
  expect(lines).toContain('  200  Hello from the device!');
  expect(lines).toContain('  404  ERR_GATEWAY_3200: No endpoint has this name.');
  expect(await readdir(demo.directory)).toEqual([]);
});

describe.runIf(onServer)('the demo of three gateways', () => {
  test('is told to its end', { timeout: STORY_MS }, async () => {
    const demo = await start();
    const lines: string[] = [];
    for await (const line of demo.lines) lines.push(line);
    const text = lines.join('\n');
    expect(await demo.exited, [text, ...demo.errors].join('\n')).toBe(0);
    for (const name of ['node1', 'node2', 'node3']) expect(text).toContain(`${name}: 200  Hello from the device!`);
    expect(text.match(/The next visit is served \d+ ms after it; \d+ were served/g)).toHaveLength(2);
    const [, before, after] = /The agent is at (node\d);[\s\S]*The agent is at (node\d) now/.exec(text) ?? [];
    expect(before).toBeDefined();
    expect(after).not.toBe(before);
    await isGone(demo, databaseIn(text), adminsIn(text));
  });

  test('leaves nothing when it is interrupted', { timeout: STORY_MS }, async () => {
    const demo = await start();
    let text = '';
    for await (const line of demo.lines) {
      text += `${line}\n`;
      if (/node2: ready/.test(line)) demo.child.kill('SIGINT');
    }
    expect(await demo.exited).toBe(130);
    expect(demo.errors).toEqual([]);
    await isGone(demo, databaseIn(text), adminsIn(text));
  });

  test('says what is missing where no server answers', async () => {
    const demo = await start({ TEST_DATABASE_URL: 'postgresql://postgres@127.0.0.1:1/test' });
    expect(await demo.exited).toBe(1);
    expect(demo.errors.join('\n')).toBe(
      'Several gateways share a PostgreSQL database, and nothing answers at 127.0.0.1:1. Look at TEST_DATABASE_URL.',
    );
    expect(await readdir(demo.directory)).toEqual([]);
  });
});
