// A terminal in which the commands of a page are typed, one block after the other: one shell, so that each block has the variables
// and functions of those before it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** What does not come by then never comes: the error says what was printed instead. */
const WAIT_MS = 40_000;

export interface Terminal {
  /**
   * Runs commands to their end.
   * @returns what they print.
   * @throws with all that was printed, when one of them fails.
   */
  run(commands: string): Promise<string>;
  /**
   * Starts a command that goes on until somebody stops it, as in a terminal of its own.
   * @returns what it prints that looks like `line`.
   */
  start(command: string, line: RegExp): Promise<string>;
  /** Ends all of them. */
  close(): Promise<void>;
}

/** @param directory where the commands are run. @param scripts a directory for files of this. */
export function openTerminal(directory: string, scripts: string, env: Record<string, string | undefined>): Terminal {
  const shell = spawn('bash', ['-euo', 'pipefail'], {
    ...{ cwd: directory, env },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    // A process group of its own, which holds all that it starts.
    detached: true,
  });
  const closed = once(shell, 'close');
  const output = collect(shell.stdout);
  const errors = collect(shell.stderr);
  const started = collect(shell.stdio[3] as Readable);
  const endGroup = () => {
    try {
      process.kill(-(shell.pid as number), 'SIGTERM');
    } catch {
      // All have ended.
    }
  };
  const ended = once(shell, 'exit').then(async ([code]) => {
    endGroup();
    await closed;
    throw new Error(`the shell ended with ${code}:\n${errors.text}${output.text}`);
  });
  ended.catch(() => undefined); // Whoever waits for it is told.
  let files = 0;
  const file = (commands: string) => {
    const path = join(scripts, `${files++}.sh`);
    writeFileSync(path, commands);
    return path;
  };
  return {
    async run(commands) {
      const from = output.text.length;
      shell.stdin.write(`. ${file(commands)} </dev/null 3>&-\nprintf '\\0'\n`);
      await Promise.race([output.until((text) => text.length > from && text.endsWith('\0')), ended]);
      return output.text.slice(from, -1);
    },
    async start(command, line) {
      const from = started.text.length;
      shell.stdin.write(`(. ${file(command)}) </dev/null >&3 2>&1 &\n`);
      const printed = () => line.exec(started.text.slice(from))?.[0];
      await Promise.race([started.until(() => printed() !== undefined), ended]).catch((error) => {
        throw new Error(`${command}\ndoes not print ${line}:\n${started.text.slice(from)}`, { cause: error });
      });
      return printed() ?? '';
    },
    async close() {
      endGroup();
      await closed;
    },
  };
}

/** What comes from a stream. */
function collect(stream: Readable) {
  let text = '';
  const readers = new Set<() => void>();
  stream.setEncoding('utf8').on('data', (more: string) => {
    text += more;
    for (const read of readers) read();
  });
  return {
    get text() {
      return text;
    },
    until: (isEnough: (text: string) => boolean) =>
      new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`not within ${WAIT_MS} ms`)), WAIT_MS);
        const read = () => {
          if (!isEnough(text)) return;
          clearTimeout(timer);
          readers.delete(read);
          resolve();
        };
        readers.add(read);
        read();
      }),
  };
}
