// Sockets that are handed in, as systemd does it: while the gateway restarts, whoever connects waits instead of being refused.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { LISTENER_NAMES, readInheritedSockets } from '../../src/config/inherited-sockets.ts';
import { newPlace } from '../support/gateway/place.ts';
import { root } from '../support/root.ts';

const KEY = 'key-of-the-inherited-sockets';
const STARTS_PROCESSES = { timeout: 120_000 };
/** Starts the gateway for each line that comes in. It holds the sockets all the time, as systemd does, and never accepts. */
const HOLDER = `
while read -r _; do
  sh -c 'echo "pid $$"; exec env LISTEN_PID=$$ "$0" "$1"' "$0" "$1" </dev/null
  echo "ended $?"
done`;

interface Unit {
  ports: number[];
  /** Starts the gateway, and waits for a line that matches. @returns the line. */
  start(expected: RegExp): Promise<string>;
  /** Tells the gateway to end, and waits until it has. @returns `ended` and its exit code. */
  stop(): Promise<string>;
}

/** @param fds of the sockets, in the order of the names. */
async function startUnit(fds: number[], names: readonly string[], ports: number[] = [], workers = '1'): Promise<Unit> {
  const place = await newPlace();
  const child = spawn('sh', ['-c', HOLDER, process.execPath, join(root, 'dist/bundle/main.js')], {
    env: {
      ...{ PATH: process.env.PATH, RATE_LIMIT: '1000000', INITIAL_API_KEY: KEY, LOG_LEVEL: 'warn', TCP_PORTS: '0' },
      ...place.env,
      WORKERS: workers,
      LISTEN_FDS: String(fds.length),
      LISTEN_FDNAMES: names.join(':'),
    },
    stdio: ['pipe', 'pipe', 'pipe', ...fds],
  });
  const lines: string[] = [];
  let look = () => {};
  for (const input of [child.stdout, child.stderr])
    if (input)
      createInterface({ input }).on('line', (line) => {
        lines.push(line);
        look();
      });
  const pid = () => Number(/^pid (\d+)$/.exec(lines.findLast((line) => line.startsWith('pid ')) ?? '')?.[1]);
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.stdin?.end();
    if (child.exitCode === null) killIfThere(pid(), 'SIGKILL');
    await ended;
    await place.remove();
  });
  const next = (expected: RegExp): Promise<string> => {
    const from = lines.length;
    return new Promise((resolve, reject) => {
      look = () => {
        const found = lines.slice(from).find((line) => expected.test(line));
        if (found !== undefined) resolve(found);
      };
      ended.then(() => reject(new Error(lines.join('\n'))));
    });
  };
  return {
    ports,
    start(expected) {
      child.stdin?.write('\n');
      return next(expected);
    },
    stop() {
      process.kill(pid(), 'SIGTERM');
      return next(/^ended /);
    },
  };
}

function killIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/** A unit with a socket for each listener. */
async function startActivated(workers: string): Promise<Unit> {
  const servers: Server[] = [];
  for (const _ of LISTENER_NAMES) {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
  }
  const fds = servers.map((server) => (server as Server & { _handle: { fd: number } })._handle.fd);
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  const unit = await startUnit(fds, LISTENER_NAMES, ports, workers);
  for (const server of servers) server.close(); // From here on the unit alone has them.
  return unit;
}

test.each([
  ['one process', '1'],
  ['workers', '2'],
])(
  'whoever connects while the gateway restarts, of %s, waits for it, and is answered',
  STARTS_PROCESSES,
  async (_, workers) => {
    const unit = await startActivated(workers);
    const [api, admin, agent, http, https] = unit.ports;
    const ready = await unit.start(/^ready /);
    expect(ready).toContain(`api=http://127.0.0.1:${api} admin=http://127.0.0.1:${admin} agent=127.0.0.1:${agent}`);
    expect(ready).toContain(`http=127.0.0.1:${http} https=127.0.0.1:${https}`);
    const ask = async () => {
      const headers = { authorization: `Bearer ${KEY}`, 'service-version': '2', connection: 'close' };
      const { status } = await fetch(`http://127.0.0.1:${api}/credentials`, { headers });
      const visitor = await fetch(`http://127.0.0.1:${http}/`, { headers: { connection: 'close' } });
      return `${status} ${visitor.status}`;
    };
    expect(await ask()).toBe('200 404');
    for (let i = 0; i < 2; i++) {
      const stopped = unit.stop();
      // None is refused, neither while the old process ends nor before there is a new one.
      const asking = Array.from({ length: 20 }, ask);
      expect(await stopped).toBe('ended 0');
      asking.push(...Array.from({ length: 20 }, ask));
      await unit.start(/^ready /);
      expect(new Set(await Promise.all(asking))).toEqual(new Set(['200 404']));
    }
  },
);

test('what is handed in and is no socket is refused with a text that says so', STARTS_PROCESSES, async () => {
  const unit = await startUnit([openSync('/dev/null', 'r')], ['http']);
  expect(await unit.start(/LISTEN_FDS/)).toMatch(/handed in \(LISTEN_FDS\) is no TCP socket that listens/);
});

test.each([
  ['an unknown name', { LISTEN_FDS: '1', LISTEN_FDNAMES: 'web' }, /one of api, admin, agent, http, https, not web/],
  ['no name', { LISTEN_FDS: '1' }, /not nothing/],
  ['one name for two', { LISTEN_FDS: '2', LISTEN_FDNAMES: 'http:http' }, /two sockets http/],
  ['no number', { LISTEN_FDS: 'two', LISTEN_FDNAMES: 'http' }, /a number of sockets, not two/],
])('sockets with %s are refused', (_, env, mistake) => {
  expect(readInheritedSockets({ ...env, LISTEN_PID: '7' }, 7)).toEqual({
    sockets: {},
    mistake: expect.stringMatching(mistake),
  });
});

test('some listeners may have sockets; those of another process are not ours', () => {
  const env = { LISTEN_FDS: '2', LISTEN_FDNAMES: 'https:http', LISTEN_PID: '7' };
  expect(readInheritedSockets(env, 7)).toEqual({ sockets: { https: 3, http: 4 }, mistake: undefined });
  expect(readInheritedSockets(env, 8)).toEqual({ sockets: {}, mistake: undefined });
  expect(readInheritedSockets({}, 7)).toEqual({ sockets: {}, mistake: undefined });
});
