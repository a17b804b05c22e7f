// A full disk below the embedded database. The gateway has a small disk of its own, in a mount namespace, which is filled
// from outside of it.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startAgent } from '../../support/agents/agent.ts';
import { eventually } from '../../support/eventually.ts';
import { send } from '../../support/gateway/http.ts';
import { freePorts, onServer } from '../../support/gateway/place.ts';
import { root } from '../../support/root.ts';
import { visit } from '../../support/visit.ts';

const MB = 2 ** 20;
const TEST = { timeout: 120_000 };
const KEY = 'the-api-key-of-full-disk-tests';

/** Mounting takes a user namespace, which some machines do not give. */
const mayMount = await promisify(execFile)('unshare', ['-r', '-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).then(
  () => true,
  () => false,
);
const testOnDisk = test.skipIf(onServer || !mayMount);

interface RunOptions {
  before?: string;
  program?: string;
  env?: Record<string, string>;
}

/**
 * Runs a gateway on a disk of so many megabytes, or another program with the directory where that is.
 * @param before what is done on the disk first, in words of the shell.
 */
function runOn(megabytes: number, { before = ':', program = main, env = {} }: RunOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-disk-'));
  const script = `mount -t tmpfs -o size=${megabytes}m tmpfs "$1" && mkdir "$1/data" && ${before}; exec "$2" "$3" "$1"`;
  const child = spawn('unshare', ['-r', '-m', 'sh', '-c', script, 'sh', directory, process.execPath, program], {
    env: {
      PATH: process.env.PATH,
      ...freePorts,
      RATE_LIMIT: '1000000',
      DATA_DIR: join(directory, 'data'),
      INITIAL_API_KEY: KEY,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => said.push(line));
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
    rmSync(directory, { recursive: true });
  });
  return { child, said, exited, disk: `/proc/${child.pid}/root${directory}` };
}

const main = join(root, 'dist/bundle/main.js');
/** A first start takes seconds longer, and these tests are not about it. */
const WITH_DATABASE = `cp -r '${join(inject('clusters'), 'migrated')}' "$1/data/db"`;

async function startOn(megabytes: number, options?: RunOptions) {
  const { child, said, exited, disk } = runOn(megabytes, { before: WITH_DATABASE, ...options });
  let ready = '';
  let authtoken = '';
  for await (const line of createInterface({ input: child.stdout })) {
    ready = line;
    if (line.startsWith('Authtoken: ')) authtoken = line.slice('Authtoken: '.length);
    if (line.startsWith('ready ')) break;
  }
  child.stdout.resume();
  const at = (name: string) => new RegExp(` ${name}=(\\S+)`).exec(ready)?.[1] ?? '';
  const agent = new Agent();
  const headers = { authorization: `Bearer ${KEY}`, 'service-version': '2', 'content-type': 'application/json' };
  return {
    child,
    said,
    exited,
    ballast: join(disk, 'ballast'),
    http: at('http'),
    agent: { authtoken, gateway: at('agent'), caFile: join(disk, 'data/ca.pem') },
    create: () => send(agent, 'POST', `${at('api')}/credentials`, headers, '{}'),
    list: () => send(agent, 'GET', `${at('api')}/credentials?limit=1`, headers),
    readyz: async () => (await send(agent, 'GET', `${at('admin')}/readyz`, {})).text,
    metrics: async () => (await send(agent, 'GET', `${at('admin')}/metrics`, {})).text,
  };
}

/** Writes until there is no room. */
function fill(file: string): void {
  const fd = openSync(file, 'w');
  const chunk = Buffer.alloc(MB);
  try {
    for (;;) writeSync(fd, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(fd); // An open file keeps its room when it is deleted.
  }
}

testOnDisk(
  'a disk that is nearly full: writes are refused, reads go on, and all is well when there is room',
  TEST,
  async () => {
    const gateway = await startOn(300);
    expect((await gateway.create()).status).toBe(201);
    expect(await gateway.readyz()).toBe('ok\n');

    fill(gateway.ballast);
    await eventually(async () => {
      const { status, body } = await gateway.create();
      expect([status, body?.error_code]).toEqual([503, 'ERR_GATEWAY_90305']);
    });
    expect((await gateway.list()).status).toBe(200);
    expect(await gateway.readyz()).toBe('The disk below the database is full: nothing can be written.\n');
    expect(gateway.said.join('\n')).toMatch(
      / MB are free in .*: nothing is written to the database until there are 96 MB/,
    );

    rmSync(gateway.ballast);
    await eventually(async () => expect((await gateway.create()).status).toBe(201));
    expect(await gateway.readyz()).toBe('ok\n');
  },
);

testOnDisk(
  'a disk that is full all at once, while much is written: the gateway lives, and goes on by itself',
  TEST,
  async () => {
    const gateway = await startOn(300);
    const acknowledged: string[] = [];
    let isOver = false;
    const writing = (async () => {
      while (!isOver) {
        const { status, body } = await gateway.create().catch(() => ({ status: 0, body: undefined }));
        if (status === 201) acknowledged.push(body.id);
      }
    })();
    await eventually(() => expect(acknowledged.length).toBeGreaterThan(3));
    for (let round = 0; round < 3; round++) {
      fill(gateway.ballast);
      await eventually(async () => expect(await gateway.readyz()).not.toBe('ok\n'));
      rmSync(gateway.ballast);
      await eventually(async () => expect(await gateway.readyz()).toBe('ok\n'), { timeout: 30_000 });
      const before = acknowledged.length;
      await eventually(() => expect(acknowledged.length).toBeGreaterThan(before), { timeout: 30_000 });
    }
    isOver = true;
    await writing;
    expect(await gateway.readyz()).toBe('ok\n');
    gateway.child.kill('SIGTERM');
    expect(await gateway.exited).toBe(0);
  },
);

testOnDisk('a disk that is full for longer than a lease: open tunnels go on', TEST, async () => {
  const gateway = await startOn(300, { env: { NODE_LEASE_MS: '1000' } });
  const service = createServer((_, response) => response.end('served'));
  await once(service.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void service.close());
  const agent = await startAgent(gateway.agent);
  onTestFinished(() => agent.remove());
  const [, api = ''] = await agent.printed(/^ready api=(\S+)/);
  const made = await fetch(`${api}/tunnels`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ forwards_to: `127.0.0.1:${(service.address() as AddressInfo).port}` }),
  });
  const { url } = (await made.json()) as { url: string };
  const visited = async () => (await visit(url, gateway.http)).body;
  expect(await visited()).toBe('served');

  fill(gateway.ballast);
  // Longer than one lease: the age of the lease is in seconds.
  const leaseAge = async () => {
    const [, age] = /^gateway_node_lease_age_seconds ([\d.e-]+)$/m.exec(await gateway.metrics()) ?? [];
    return Number(age);
  };
  await eventually(async () => expect(await leaseAge()).toBeGreaterThan(1.5));
  expect(await visited()).toBe('served');
  rmSync(gateway.ballast);
  await eventually(async () => expect(await gateway.readyz()).toBe('ok\n'));
  await eventually(async () => expect(await visited()).toBe('served'));
});

testOnDisk('a start without room says how much there is, and how much it takes', TEST, async () => {
  const { said, exited } = runOn(40);
  expect(await exited).toBe(1);
  expect(said.join('\n')).toMatch(
    /^There is too little room for the database: \d+ MB are free in \S+, and it takes 128 MB to start\. Make room, or set DATA_DIR to a directory on another disk\.$/m,
  );
});

testOnDisk('a start on a disk that cannot be written says so', TEST, async () => {
  const { said, exited } = runOn(200, { before: 'mount -o remount,ro "$1"' });
  expect(await exited).toBe(1);
  expect(said.join('\n')).toMatch(/^EROFS: read-only file system, .* Look at DATA_DIR\.$/m);
});

testOnDisk('a start on such a disk, in a directory that is to be made, says so', TEST, async () => {
  // The shell says where the disk is.
  const { said, exited } = runOn(200, { before: 'mount -o remount,ro "$1"; export DATA_DIR="$1/other/data"' });
  expect(await exited).toBe(1);
  expect(said.join('\n')).toMatch(/mkdir .*other.* Look at DATA_DIR\.$/m);
  expect(said.join('\n')).not.toMatch(/^\s+at /m);
});

const firstFreePort = Number(await readFile('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8').catch(() => 0));
test.skipIf(onServer || !mayMount || firstFreePort <= 80)(
  'a start on a port that it may not have names the port',
  TEST,
  async () => {
    const { said, exited } = runOn(300, { before: WITH_DATABASE, env: { HTTP_PORT: '80' } });
    expect(await exited).toBe(1);
    expect(said.join('\n')).toMatch(/EACCES.*127\.0\.0\.1:80.*PORT/);
    expect(said.join('\n')).not.toMatch('DATA_DIR');
  },
);

testOnDisk(
  'a database that stops itself for want of room is opened again, with all that was acknowledged',
  TEST,
  async () => {
    const { child, exited } = runOn(300, {
      before: WITH_DATABASE,
      program: join(import.meta.dirname, 'full-disk-child.mjs'),
    });
    const printed = text(child.stdout);
    expect([await exited, await printed]).toEqual([0, '{"stopped":true,"attempts":2,"rows":0}\n']);
  },
);
