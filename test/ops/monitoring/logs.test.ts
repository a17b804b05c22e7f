// Logs that nobody takes: the gateway and the agent go on, count what they drop, say so later, and end when told to.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { send } from '../../support/gateway/http.ts';
import { freePorts, newPlace, type Place } from '../../support/gateway/place.ts';
import { root } from '../../support/root.ts';

const STARTS_A_PROCESS = { timeout: 60_000 };
/** A line of the log says the path: with this many requests the pipe is full, and what may wait in the process. */
const PATH = `/${'x'.repeat(7000)}`;
const REQUESTS = 900;
const AT_ONCE = 30;

let place: Place;
beforeEach(async () => {
  place = await newPlace();
});
afterEach(() => place.remove());

/** A gateway whose log nobody reads yet. */
async function startUnread(stderr: 'pipe' | number) {
  const gateway = spawn(process.execPath, [join(root, 'dist/bundle/main.js')], {
    env: { PATH: process.env.PATH, ...freePorts, RATE_LIMIT: '1000000', STRANGER_RATE_LIMIT: '1000000', ...place.env },
    stdio: ['ignore', 'pipe', stderr],
  });
  onTestFinished(() => void gateway.kill('SIGKILL'));
  const ready = await printed(gateway, /^ready /);
  const at = (name: string) => new RegExp(` ${name}=(\\S+)`).exec(ready)?.[1] ?? '';
  return { gateway, api: at('api'), admin: at('admin') };
}

async function printed(child: ChildProcess, pattern: RegExp): Promise<string> {
  if (!child.stdout) throw new Error('its output is not read');
  for await (const line of createInterface({ input: child.stdout })) if (pattern.test(line)) return line;
  throw new Error('the process ended too early');
}

/** Requests that are logged, and each answered. */
async function askOften(api: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const ask = async () => {
    const { status } = await send(agent, 'GET', `${api}${PATH}`, {}, undefined);
    expect(status).toBe(404);
  };
  for (let i = 0; i < REQUESTS; i += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, ask));
  agent.destroy();
}

async function dropped(admin: string): Promise<number> {
  const text = await (await fetch(`${admin}/metrics`)).text();
  return Number(/^gateway_log_lines_dropped_total (\d+)$/m.exec(text)?.[1]);
}

test(
  'a pipe that nobody reads: requests are answered, what is dropped is counted, and told when it flows again',
  STARTS_A_PROCESS,
  async () => {
    const { gateway, api, admin } = await startUnread('pipe');
    await askOften(api);
    const count = await dropped(admin);
    expect(count).toBeGreaterThan(0);

    const lines: string[] = [];
    if (gateway.stderr) createInterface({ input: gateway.stderr }).on('line', (line) => lines.push(line));
    await eventually(() =>
      expect(lines.map((line) => JSON.parse(line))).toContainEqual(
        expect.objectContaining({ dropped: count, msg: 'log lines were dropped: nobody took them' }),
      ),
    );
    expect(lines.filter((line) => line.includes('xxxx')).length + count).toBe(REQUESTS);
  },
);

test('a pipe that nobody reads: SIGTERM ends the gateway with exit code 0', STARTS_A_PROCESS, async () => {
  const { gateway, api } = await startUnread('pipe');
  await askOften(api);
  const exited = once(gateway, 'exit');
  gateway.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

test(
  'a full disk below the log: requests are answered, and SIGTERM ends the gateway with exit code 0',
  STARTS_A_PROCESS,
  async () => {
    const { gateway, api, admin } = await startUnread(openSync('/dev/full', 'w'));
    await askOften(api);
    expect(await dropped(admin)).toBeGreaterThan(0);
    const exited = once(gateway, 'exit');
    gateway.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  },
);

test(
  'a log whose reader has gone: requests are answered, and SIGTERM ends the gateway with exit code 0',
  STARTS_A_PROCESS,
  async () => {
    const { gateway, api } = await startUnread('pipe');
    gateway.stderr?.destroy();
    await askOften(api);
    const exited = once(gateway, 'exit');
    gateway.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  },
);
