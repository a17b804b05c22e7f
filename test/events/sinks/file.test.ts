// Files: whole lines, appended, on the disk; never half of one, and never elsewhere than in the operator's directory.

import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packEvents, unpackEvents } from '../../../src/events/batch.ts';
import { fileSink, isFileName } from '../../../src/events/sinks/file.ts';
import { newEvents, patience, settingsFor } from '../../support/events/aws-sinks.ts';
import { failureOf, openSinkLab, type SinkLab } from '../../support/events/http-sinks.ts';
import { root } from '../../support/root.ts';

let lab: SinkLab;
beforeAll(async () => {
  lab = await openSinkLab();
});
afterAll(() => lab.close());

const ACCOUNT = 'ac_one';

const open = (name: string, eventFileDir: string | undefined = lab.directory, accountId = ACCOUNT) =>
  fileSink({ name }, { ...lab.parts(), accountId, settings: settingsFor({ eventFileDir }) });
const pathOf = (name: string, accountId = ACCOUNT) => join(lab.directory, accountId, name);
const textOf = (name: string, accountId?: string) => readFile(pathOf(name, accountId), 'utf8');
const linesOf = (events: readonly { text: string }[]) => events.map(({ text }) => `${text}\n`).join('');

test('events are appended as lines, to a file that only its owner reads', async () => {
  const sink = await open('events.jsonl');
  const [first, second] = [newEvents(3), newEvents(2)];
  expect(await sink.put(first, patience)).toEqual([]);
  await sink.put(second, patience);
  expect(await textOf('events.jsonl')).toBe(linesOf([...first, ...second]));
  expect((await stat(pathOf('events.jsonl'))).mode & 0o777).toBe(0o600);
});

test('events of stored batches are the lines that they were, whichever of them are sent', async () => {
  const stored = async () => {
    const texts = newEvents(20, { object: { name: 'Grüße, 世界' } }).map(({ text }) => text);
    return unpackEvents((await packEvents(texts)).body);
  };
  const [one, other] = [await stored(), await stored()];
  const events = [...one.slice(0, 5), ...one.slice(6, 9), one[19], other[0], ...other.slice(17)].flatMap(
    (of) => of ?? [],
  );
  await (await open('batches.jsonl')).put(events, patience);
  expect(await textOf('batches.jsonl')).toBe(linesOf(events));
});

test('each account has a directory of its own: no name leads into that of another', async () => {
  const [one, other] = [newEvents(1), newEvents(1)];
  await (await open('same.jsonl', lab.directory, 'ac_1')).put(one, patience);
  await (await open('same.jsonl', lab.directory, 'ac_2')).put(other, patience);
  expect([await textOf('same.jsonl', 'ac_1'), await textOf('same.jsonl', 'ac_2')]).toEqual([
    linesOf(one),
    linesOf(other),
  ]);
  expect((await stat(pathOf('', 'ac_1'))).mode & 0o777).toBe(0o700);
  await (await open('ac_1', lab.directory, 'ac_2')).put(other, patience);
  expect(await textOf('same.jsonl', 'ac_1')).toBe(linesOf(one));
});

test('after the file is moved away, a new one is created', async () => {
  const sink = await open('rotated.jsonl');
  const [first, second] = [newEvents(1), newEvents(1)];
  await sink.put(first, patience);
  await rename(pathOf('rotated.jsonl'), pathOf('rotated.1'));
  await sink.put(second, patience);
  expect([await textOf('rotated.1'), await textOf('rotated.jsonl')]).toEqual([linesOf(first), linesOf(second)]);
});

test('sinks may share a file', async () => {
  const sinks = await Promise.all([1, 2, 3, 4].map(() => open('shared.jsonl')));
  const events = newEvents(40);
  await Promise.all(events.map((event, i) => sinks[i % 4]?.put([event], patience)));
  expect((await textOf('shared.jsonl')).split('\n').sort()).toEqual(linesOf(events).split('\n').sort());
});

test('an incomplete last line of another writer is ended first', async () => {
  await mkdir(pathOf(''), { recursive: true });
  await writeFile(pathOf('cut.jsonl'), '{"event_id":"ev_');
  const events = newEvents(1);
  await (await open('cut.jsonl')).put(events, patience);
  expect(await textOf('cut.jsonl')).toBe(`{"event_id":"ev_\n${linesOf(events)}`);
});

/**
 * Appends where no file may be longer than so many bytes. In a process of its own: the limit holds for all that a process
 * writes, and the databases of other tests are in this one.
 * @returns why it failed.
 */
function putWithin(bytes: number, name: string, events: ReturnType<typeof newEvents>): unknown {
  const built = (path: string) => JSON.stringify(join(root, 'dist/events', path));
  const settings = { eventFileDir: lab.directory };
  const texts = events.map(({ text }) => text);
  const script = `
    const { fileSink } = await import(${built('sinks/file.js')});
    const { readWritten } = await import(${built('event.js')});
    const parts = { settings: ${JSON.stringify(settings)}, accountId: ${JSON.stringify(ACCOUNT)} };
    const sink = await fileSink({ name: ${JSON.stringify(name)} }, parts);
    const events = ${JSON.stringify(texts)}.map(readWritten);
    const failure = await sink.put(events, AbortSignal.timeout(20_000)).catch((error) => error);
    process.stdout.write(JSON.stringify({ kind: failure.kind, code: failure.code }));`;
  const limited = [`--fsize=${bytes}:${bytes}`, process.execPath, '--input-type=module', '-e', script];
  return JSON.parse(execFileSync('prlimit', limited, { encoding: 'utf8' }));
}

test('a write that is cut short is undone and retried', async () => {
  const sink = await open('full.jsonl');
  const before = newEvents(2);
  await sink.put(before, patience);
  const most = Buffer.byteLength(linesOf(before)) + 100;
  expect(putWithin(most, 'full.jsonl', newEvents(50))).toEqual({ kind: 'retry', code: 'EFBIG' });
  expect(await textOf('full.jsonl')).toBe(linesOf(before));
  const after = newEvents(50);
  await sink.put(after, patience);
  expect(await textOf('full.jsonl')).toBe(linesOf([...before, ...after]));
});

test('links, directories and pipes are not written to', async () => {
  const outside = join(lab.directory, 'outside');
  await writeFile(outside, '');
  const inside = pathOf('', 'ac_links');
  await mkdir(inside);
  await symlink(outside, join(inside, 'leading-out'));
  await symlink('/nowhere', join(inside, 'dangling'));
  await mkdir(join(inside, 'directory'));
  execFileSync('mkfifo', [join(inside, 'pipe')]);
  for (const [name, code] of [
    ['leading-out', 'ELOOP'],
    ['dangling', 'ELOOP'],
    ['directory', 'EISDIR'],
    ['pipe', 'NotAFile'],
  ] as const)
    expect(await failureOf((await open(name, lab.directory, 'ac_links')).put(newEvents(1), patience))).toMatchObject({
      kind: 'config',
      code,
    });
  expect(await readFile(outside, 'utf8')).toBe('');
});

test('without EVENT_FILE_DIR there are no file sinks', async () => {
  const none = fileSink({ name: 'a' }, lab.parts());
  expect(await failureOf(none)).toMatchObject({ kind: 'config', code: 'NoFiles' });
  const gone = await open('a', join(lab.directory, 'gone'));
  expect(await failureOf(gone.put(newEvents(1), patience))).toMatchObject({ kind: 'config', code: 'ENOENT' });
});

test('names of files must not contain a path', async () => {
  for (const name of ['a', 'events.jsonl', 'A-1_b.2', 'x'.repeat(100)])
    expect([name, isFileName(name)]).toEqual([name, true]);
  const wrong = [
    '',
    '.',
    '../..',
    '.hidden',
    '-x',
    '../../a',
    'a/b',
    '/etc/passwd',
    'a\\b',
    'a\0',
    'a\n',
    'ä',
    'x'.repeat(101),
  ];
  for (const name of wrong) expect([name, isFileName(name)]).toEqual([name, false]);
  expect(await failureOf(open('../../a'))).toMatchObject({ kind: 'config', code: 'BadFileName' });
});
