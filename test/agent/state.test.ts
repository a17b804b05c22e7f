// The state file survives what happens to devices: crashes, damage, other versions, and a second agent.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LockError, lockInstance } from '../../agent/src/tunnels/instance-lock.ts';
import { openStateFile, StateFileError } from '../../agent/src/tunnels/state-file.ts';
import { type AgentState, EMPTY_STATE, type SavedTunnel } from '../../agent/src/tunnels/state-format.ts';
import { hasProc, newZombie } from '../support/agents/zombie.ts';

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'agent-state-'));
  file = join(directory, 'tunnels.json');
});
afterEach(() => rmSync(directory, { recursive: true }));

const tunnel = (name: string): SavedTunnel => ({
  id: name,
  url: `https://${name}.example.com`,
  previousUrl: null,
  protocol: 'https',
  forwardsTo: '127.0.0.1:3000',
  domain: null,
  policy: { inbound: [] },
  policySource: 'default',
  createdAt: '2026-11-21T09:00:00.000Z',
  resume: { tunnelId: `tn_${name}`, bindToken: 'token', url: `https://${name}.example.com` },
});
const stateOf = (...names: string[]): AgentState => ({
  identity: { clientId: 'client', cookie: 'cookie' },
  defaultPolicy: { outbound: [] },
  api: null,
  tunnels: names.map(tunnel),
});
const namesIn = ({ tunnels }: AgentState) => tunnels.map(({ id }) => id);
const load = async () => (await openStateFile(file, () => EMPTY_STATE)).loaded;
async function write(...names: string[]) {
  const state = await openStateFile(file, () => stateOf(...names));
  await state.save();
}

describe('the state file', () => {
  test('gives back what was saved, tunnels in their order', async () => {
    await write('z', 'a', 'm');
    expect(await load()).toEqual(stateOf('z', 'a', 'm'));
  });

  test('is empty where there is none, and its directory is made', async () => {
    file = join(directory, 'deep/er/tunnels.json');
    expect(await load()).toEqual(EMPTY_STATE);
    await write('a');
    expect(namesIn(await load())).toEqual(['a']);
  });

  test('can be read by its owner only, as it holds tokens and policies', async () => {
    writeFileSync(file, '{}', { mode: 0o644 });
    await write('a');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('is written once for changes that come together, and not at all without one', async () => {
    let names = ['a'];
    const state = await openStateFile(file, () => stateOf(...names));
    await state.save();
    const { ino } = statSync(file);
    await state.save();
    expect(statSync(file).ino).toBe(ino);
    const saves = ['b', 'c', 'd'].map((name) => {
      names = [...names, name];
      return state.save();
    });
    await Promise.all(saves);
    expect(namesIn(await load())).toEqual(['a', 'b', 'c', 'd']);
    // The first write took all: the version before it is the one with "a" alone.
    expect(JSON.parse(readFileSync(`${file}.bak`, 'utf8')).tunnels).toHaveLength(1);
  });

  test('says when it cannot be written, and is written again by the next save', async () => {
    const state = await openStateFile(file, () => stateOf('a'));
    mkdirSync(`${file}.new/in-the-way`, { recursive: true });
    await expect(state.save()).rejects.toThrow();
    rmSync(`${file}.new`, { recursive: true });
    await state.save();
    expect(namesIn(await load())).toEqual(['a']);
  });

  test('a change that comes while another is being written is not lost', async () => {
    let names = ['a'];
    const state = await openStateFile(file, () => stateOf(...names));
    const first = state.save();
    await new Promise(setImmediate); // The first one has looked at the names.
    names = ['a', 'b'];
    await Promise.all([first, state.save()]);
    expect(namesIn(await load())).toEqual(['a', 'b']);
  });
});

describe('a damaged state file', () => {
  test.each([
    ['cut short', (text: string) => text.slice(0, text.length / 2)],
    ['empty, as after a loss of power', () => ''],
    ['full of zeros', (text: string) => '\0'.repeat(text.length)],
    ['of another kind', () => '[1, 2, 3]'],
    ['with a tunnel that is none', (text: string) => text.replace('"https"', '"gopher"')],
  ])('%s, is set aside, and the version before is used', async (_, damage) => {
    await write('a');
    await write('a', 'b');
    const damaged = damage(readFileSync(file, 'utf8'));
    writeFileSync(file, damaged);
    const state = await openStateFile(file, () => stateOf('a'));
    expect(namesIn(state.loaded)).toEqual(['a']);
    expect(state.damage).toMatch(/is damaged .* set aside as .*\.corrupt-.* is used$/);
    const aside = readdirSync(directory).filter((name) => name.startsWith('tunnels.json.corrupt-'));
    expect(aside.map((name) => readFileSync(join(directory, name), 'utf8'))).toEqual([damaged]);
    // The damaged version does not take the place of the good one before it.
    await state.save();
    expect(JSON.parse(readFileSync(`${file}.bak`, 'utf8')).tunnels).toHaveLength(1);
    expect((await openStateFile(file, () => EMPTY_STATE)).damage).toBeNull();
  });

  test('without a good version before it means to start empty, and says so', async () => {
    writeFileSync(file, '{');
    writeFileSync(`${file}.bak`, '{');
    const state = await openStateFile(file, () => EMPTY_STATE);
    expect(state.loaded).toEqual(EMPTY_STATE);
    expect(state.damage).toMatch(/tunnels are lost/);
  });

  test('stays where it is until something is saved: a crash in between loses nothing', async () => {
    await write('a');
    await write('a', 'b');
    writeFileSync(file, '{');
    await load();
    expect(namesIn(await load())).toEqual(['a']);
  });

  test('of a newer agent is left alone', async () => {
    const newer = JSON.stringify({ version: 2, tunnels: {} });
    writeFileSync(file, newer);
    await expect(load()).rejects.toThrow(StateFileError);
    await expect(load()).rejects.toThrow(/version 2.*install a newer one/);
    expect(readdirSync(directory)).toEqual(['tunnels.json']);
    expect(readFileSync(file, 'utf8')).toBe(newer);
  });
});

describe('the file of the sample agent', () => {
  const policy = { inbound: [{ actions: [{ type: 'deny' }] }] };
  const encoded = (times: number) => {
    let value: unknown = policy;
    for (let i = 0; i < times; i++) value = JSON.stringify(value);
    return value;
  };

  test.each([[0], [1], [2], [3]])('is read when its policies were encoded %i times', async (times) => {
    const entry = { protocol: 'http', forwards_to: 'localhost:8000', domain: 'a.example.com', policy: encoded(times) };
    writeFileSync(
      file,
      JSON.stringify({ 'https://a.example.com': entry, 'https://b.example.com': { ...entry, domain: null } }),
    );
    expect((await load()).tunnels).toMatchObject([
      { url: 'https://a.example.com', protocol: 'http', forwardsTo: 'localhost:8000', domain: 'a.example.com', policy },
      { url: 'https://b.example.com', domain: null, policy, resume: null },
    ]);
  });

  test('becomes one of ours when it is saved', async () => {
    writeFileSync(file, JSON.stringify({ 'https://a.example.com': { forwards_to: 'localhost:8000', policy: '{}' } }));
    const { loaded } = await openStateFile(file, () => EMPTY_STATE);
    const state = await openStateFile(file, () => loaded);
    await state.save();
    expect(await load()).toEqual(loaded);
    expect(JSON.parse(readFileSync(file, 'utf8')).version).toBe(1);
  });
});

describe('the lock of the state file', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });
  /** Another process that holds the lock, or has died with it. */
  async function holder() {
    const script = `
      const { mkdirSync, writeFileSync, readFileSync } = require('node:fs');
      const stat = readFileSync('/proc/self/stat', 'latin1');
      mkdirSync(process.argv[1]);
      writeFileSync(process.argv[1] + '/' + process.pid + '.' + stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19], '');
      console.log('held');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['-e', script, `${file}.lock`], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    await once(child.stdout, 'data');
    return child;
  }

  test('is refused while another process has it, which is named', async () => {
    const child = await holder();
    expect(() => lockInstance(file)).toThrow(LockError);
    expect(() => lockInstance(file)).toThrow(`Process ${child.pid} is an agent`);
    expect(readdirSync(directory)).toEqual(['tunnels.json.lock']);
  });

  test('of a process that was killed counts for nothing', async () => {
    const child = await holder();
    child.kill('SIGKILL');
    await once(child, 'exit');
    const unlock = lockInstance(file);
    unlock();
    expect(readdirSync(directory)).toEqual([]);
  });

  test('of a process whose number another one has now counts for nothing', async () => {
    const child = await holder();
    const [name = ''] = readdirSync(`${file}.lock`);
    rmSync(join(`${file}.lock`, name));
    writeFileSync(join(`${file}.lock`, `${child.pid}.1`), '');
    lockInstance(file)();
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  test.runIf(hasProc)(
    'of a process that has ended, and is not asked for its exit code, counts for nothing',
    async () => {
      const { pid, start } = await newZombie();
      mkdirSync(`${file}.lock`);
      writeFileSync(join(`${file}.lock`, `${pid}.${start}`), '');
      lockInstance(file)();
      expect(existsSync(`${file}.lock`)).toBe(false);
    },
  );

  test('of our own number, as every start of a container has the same one, counts for nothing', () => {
    mkdirSync(`${file}.lock`);
    writeFileSync(join(`${file}.lock`, `${process.pid}.1`), '');
    lockInstance(file)();
    expect(existsSync(`${file}.lock`)).toBe(false);
  });
});
