// The last lines that a process has logged, where the primary can read them when it has ended: an upgrade that is taken back says why.
// They are in a file without a name, which both have open.

import { fstatSync, ftruncateSync, mkdirSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { PrimaryMessage } from './messages.ts';

/** The descriptor of the file in the process that writes, which has this variable then. */
export const TAIL_FD = 5;
export const TAIL = 'GATEWAY_LOG_TAIL';
/** The file begins anew at this size. */
const TAIL_BYTES = 64 * 1024;
/** Lines that are told of one process. */
const LINES = 10;

/** @returns the descriptor of a new file. @throws when it cannot be written in this directory. */
export function openTail(directory: string): number {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `tail-${process.pid}`);
  const fd = openSync(path, 'w+', 0o600);
  unlinkSync(path);
  return fd;
}

/** @returns the last lines in it, the last one last. */
export function readTail(fd: number): string[] {
  const bytes = Buffer.alloc(fstatSync(fd).size);
  readSync(fd, bytes, 0, bytes.length, 0);
  const lines = bytes.toString().split('\n');
  return lines.filter((line) => line !== '').slice(-LINES);
}

/** @returns what writes the file of this process, until the primary says that it is settled; undefined when it has none. */
export function ownTail(env: NodeJS.ProcessEnv): LogTail | undefined {
  if (env[TAIL] === undefined) return undefined;
  const tail = new LogTail();
  process.on('message', ({ type }: PrimaryMessage) => type === 'settled' && tail.close());
  return tail;
}

class LogTail {
  #bytes = 0;
  #isClosed = false;

  /** Writes a line, with its end. A disk that is full keeps nobody from logging. */
  write(line: string): void {
    if (this.#isClosed) return;
    try {
      if (this.#bytes > TAIL_BYTES) {
        ftruncateSync(TAIL_FD);
        this.#bytes = 0;
      }
      this.#bytes += writeSync(TAIL_FD, line, this.#bytes);
    } catch {}
  }

  /** Nobody will read it any more. */
  close(): void {
    this.#isClosed = true;
  }
}
