// What a device has lost, or cannot write, never keeps its tunnels away.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { agentLab } from './agent-lab.ts';
import { visit } from './visitors.ts';

const lab = agentLab();
const run = promisify(execFile);

/** A directory in which a tunnel was created, by an agent that is gone. @returns the URL of the tunnel. */
async function withTunnel(path: string): Promise<string> {
  const agent = await lab.agent({}, path);
  const { body } = await agent.ask('POST', '/tunnels', { protocol: 'http', forwards_to: lab.service.at });
  await agent.close();
  return body.url;
}

/** A small disk. @returns undefined where none can be mounted. */
async function newDisk(): Promise<string | undefined> {
  const path = join(lab.directory(), 'disk');
  mkdirSync(path);
  const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', path]).then(
    () => true,
    () => false,
  );
  if (!mounted) return undefined;
  lab.cleanups.push(() => run('umount', ['-l', path]));
  return path;
}

const isServed = async (url: string) => (await visit(lab.gateway, url)).body === 'hello';

test('a port that another program has: tunnels are served, and the local API waits for it', async () => {
  const path = lab.directory();
  const url = await withTunnel(path);
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const agent = await lab.agent({ AGENT_API_ADDR: `127.0.0.1:${port}` }, path);
  await agent.log.find(/waits for its address.*EADDRINUSE/);
  await agent.log.find(/tunnel active/);
  expect(await isServed(url)).toBe(true);
  expect(agent.printed.all).toEqual([]);
  other.close();
  await agent.printed.find(new RegExp(`^ready api=http://127.0.0.1:${port}$`));
  expect((await agent.ask('GET', '/tunnels')).body).toMatchObject([{ url }]);
});

test('a state of a newer agent is left alone, and that of this one used, also after the way there and back', async () => {
  const path = lab.directory();
  const url = await withTunnel(path);
  const file = join(path, 'tunnels.json');
  copyFileSync(file, `${file}.bak`);
  const newer = JSON.stringify({ version: 2, tunnels: 'of another kind' });
  writeFileSync(file, newer);
  for (const _ of ['first', 'second']) {
    const agent = await lab.agent({}, path);
    await agent.log.find(/is of a newer agent .*that of this agent is used/);
    await agent.log.find(/tunnel active/);
    expect(await isServed(url)).toBe(true);
    await agent.close();
    rmSync(`${file}.bak`, { force: true });
    expect(readFileSync(file, 'utf8')).toBe(newer);
    expect(JSON.parse(readFileSync(`${file}.v1`, 'utf8')).tunnels).toMatchObject([{ url }]);
  }
});

test('a disk that is full, and then has room again', async ({ skip }) => {
  const path = await newDisk();
  if (path === undefined) return skip('no disk can be mounted');
  const url = await withTunnel(path);
  const filling = join(path, 'filling');
  const { bavail, bsize } = statfsSync(path);
  writeFileSync(filling, Buffer.alloc(bavail * bsize));
  expect(statfsSync(path).bavail).toBe(0);
  const agent = await lab.agent({}, path);
  await agent.log.find(/tunnel active/);
  expect(await isServed(url)).toBe(true);
  const another = { protocol: 'tcp', forwards_to: lab.service.at };
  const refused = await agent.ask('POST', '/tunnels', another);
  expect(refused).toMatchObject({ status: 500, body: { detail: expect.stringMatching(/ENOSPC.*was not started/) } });
  await agent.log.find(/cannot be written; it is tried again.*ENOSPC/);
  rmSync(filling);
  expect((await agent.ask('POST', '/tunnels', another)).status).toBe(200);
  expect((await agent.ask('GET', '/status')).body.state_file.failure).toBeNull();
});

test('a disk that is read only', async ({ skip }) => {
  const path = await newDisk();
  if (path === undefined) return skip('no disk can be mounted');
  const url = await withTunnel(path);
  await run('mount', ['-o', 'remount,ro', path]);
  const agent = await lab.agent({}, path);
  await agent.log.find(/without a lock.*EROFS/);
  await agent.log.find(/tunnel active/);
  expect(await isServed(url)).toBe(true);
  expect(readdirSync(path)).not.toContain('tunnels.json.lock');
});

test('a directory that cannot be made ends it with a sentence', async () => {
  for (const directory of ['/proc/agent/of/tests', '/dev/null/agent'].filter(() => existsSync('/proc')))
    await expect(lab.agent({ AGENT_STATE_FILE: `${directory}/tunnels.json` })).rejects.toThrow(
      /^AGENT_STATE_FILE .* cannot be used: ENO/,
    );
});
