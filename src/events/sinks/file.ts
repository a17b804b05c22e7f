// The file sink, an addition to the specification. It appends events as lines to files below the operator's `EVENT_FILE_DIR`, where
// each account has a directory of its own.

import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { WrittenEvent } from '../written-event.ts';
import { type SinkContext, type SinkDescriptor, textMember } from './descriptor.ts';
import { type Sink, SinkError } from './sink.ts';
import { TargetError } from './target-error.ts';

/** The most bytes of one append, which is synced to the disk as a whole, and of one event. */
const [APPEND_BYTES, EVENT_BYTES] = [4 * 1024 * 1024, 1024 * 1024];
const NEWLINE = Buffer.from('\n');
/** Symbolic links are not followed, and opening a pipe without a reader does not block. */
const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Errors that end by themselves once there is space. The operator has to mend all others. */
const PASSING = new Set([
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'EIO',
  'EAGAIN',
  'EINTR',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ETIMEDOUT',
]);

type FileTarget = {
  name: string;
};

const errors = {
  noFileDestinations: {
    number: 90073,
    text: '{member}: this gateway writes no files; its operator has not set EVENT_FILE_DIR.',
  },
  badFileName: {
    number: 90075,
    text: '{member} must be a bare file name: 1 to 100 letters, digits, ".", "_" and "-", the first a letter or a digit.',
  },
};

export const file: SinkDescriptor<FileTarget> = {
  title: 'A file of the gateway’s machine.',
  description: 'A file of the gateway’s machine.',
  isAddition: true,
  members: {
    name: textMember(
      'Its name in the directory that the gateway’s operator has set.',
      'Required. The bare name of a file in your account’s directory below the one that the gateway’s operator has set (`EVENT_FILE_DIR`): at ' +
        'most 100 letters, digits, `.`, `_` and `-`.',
    ),
  },
  errors,
  check({ name }, path, { eventFileDir }) {
    const member = `${path}.name`;
    if (eventFileDir === undefined) throw new TargetError(errors.noFileDestinations, { member: path });
    if (!name) throw new TargetError('targetMemberMissing', { member });
    if (!isFileName(name)) throw new TargetError(errors.badFileName, { member });
    return { name };
  },
  recipient: () => null,
  open: (target, context) => fileSink(target, context),
};

/** Whether a file destination may have this name, which must not contain a path. */
export function isFileName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name);
}

/** @throws {SinkError} when the operator allows no files. */
export async function fileSink(
  { name }: FileTarget,
  { settings, accountId }: Pick<SinkContext, 'settings' | 'accountId'>,
): Promise<Sink> {
  const { eventFileDir } = settings;
  if (!eventFileDir || !isFileName(name))
    throw new SinkError('config', {
      code: eventFileDir ? 'BadFileName' : 'NoFiles',
      message: eventFileDir ? 'the target has no bare file name' : 'files need EVENT_FILE_DIR of the gateway',
    });
  const directory = join(eventFileDir, accountId);
  const path = join(directory, name);
  return {
    limits: { records: 10_000, bytes: APPEND_BYTES, recordBytes: EVENT_BYTES },
    sizeOf: ({ size }) => size + 1,
    async put(events, signal) {
      await inTurn(path, async () => {
        signal.throwIfAborted();
        await makeDirectory(directory);
        await append(path, piecesOf(events));
      }).catch((error: NodeJS.ErrnoException) => {
        throw signal.aborted || error instanceof SinkError ? error : failureOf(error);
      });
      return [];
    },
    close() {},
  };
}

/** The last append in progress for each file. */
const writing = new Map<string, Promise<unknown>>();

/** Runs appends to one file one at a time: destinations may share a file, and an append that fails must only truncate its own lines. */
async function inTurn(path: string, work: () => Promise<void>): Promise<void> {
  const mine = (writing.get(path) ?? Promise.resolve()).then(work, work);
  writing.set(path, mine);
  try {
    await mine;
  } finally {
    if (writing.get(path) === mine) writing.delete(path);
  }
}

/** Appends lines, all or none, and syncs them to the disk. It opens the file each time, because it may have been rotated meanwhile. */
async function append(path: string, lines: readonly Buffer[]): Promise<void> {
  const file = await open(path, FLAGS, 0o600);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new SinkError('config', { code: 'NotAFile', message: 'the file is not a regular one' });
    const pieces = (await endsInLine(file, stats.size)) ? [NEWLINE, ...lines] : lines;
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    let written = 0;
    try {
      written = (await file.writev(pieces)).bytesWritten;
      if (written < bytes) written += (await file.writev(piecesFrom(pieces, written))).bytesWritten;
      if (written < bytes) throw Object.assign(new Error('the file could not be written whole'), { code: 'ENOSPC' });
    } catch (error) {
      if (written > 0 && (await file.stat()).size === stats.size + written) await file.truncate(stats.size);
      throw error;
    }
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Creates the directory of an account if it is missing. The operator has to create the one above it. */
async function makeDirectory(path: string): Promise<void> {
  await mkdir(path, 0o700).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/** Whether a file ends within a line, because a writer was interrupted. */
async function endsInLine(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== NEWLINE[0];
}

/** The bytes of events, each with a line break behind it. Events that follow each other in one buffer are one piece. */
function piecesOf(events: readonly WrittenEvent[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let i = 0; i < events.length; ) {
    const { lines, start } = events[i] as WrittenEvent;
    let { end } = events[i] as WrittenEvent;
    for (i++; events[i]?.lines === lines && events[i]?.start === end + 1; i++) end = (events[i] as WrittenEvent).end;
    if (lines[end] === NEWLINE[0]) pieces.push(lines.subarray(start, end + 1));
    else pieces.push(lines.subarray(start, end), NEWLINE);
  }
  return pieces;
}

/** What is left of pieces behind their first bytes. */
function piecesFrom(pieces: readonly Buffer[], bytes: number): Buffer[] {
  const left: Buffer[] = [];
  let skipped = 0;
  for (const piece of pieces) {
    const from = Math.max(0, bytes - skipped);
    if (from < piece.length) left.push(piece.subarray(from));
    skipped += piece.length;
  }
  return left;
}

function failureOf({ code = 'Error' }: NodeJS.ErrnoException): SinkError {
  const message = code === 'ELOOP' ? 'the file is a link' : 'the file could not be written';
  return new SinkError(PASSING.has(code) ? 'retry' : 'config', { code, message });
}
