// The state file survives what happens to devices: crashes, damage and other versions.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStateFile } from '../../agent/src/tunnels/state-file.ts';
import { type AgentState, EMPTY_STATE, type SavedTunnel } from '../../agent/src/tunnels/state-format.ts';

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
  endpoints: { ssh: { tunnelId: 'tn_ssh', bindToken: 'token', url: 'tcp://tunnel.example.com:20022' } },
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

  test('of a newer agent is left alone; what is saved goes to a file of this version, which is read next time', async () => {
    const newer = JSON.stringify({ version: 2, tunnels: {} });
    writeFileSync(file, newer);
    const state = await openStateFile(file, () => stateOf('a'));
    expect(state.loaded).toEqual(EMPTY_STATE);
    expect(state.damage).toMatch(/is of a newer agent \(it has version 2, .*has no tunnels yet, in .*\.v1$/);
    await state.save();
    expect(namesIn(await load())).toEqual(['a']);
    expect(readdirSync(directory)).toEqual(['tunnels.json', 'tunnels.json.v1']);
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
