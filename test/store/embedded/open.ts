// Opens embedded databases for tests, in this process and in others.

import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { type Embedded, type EmbeddedOptions, openEmbedded } from '../../../src/store/embedded/index.ts';

/** Opens the database of a directory until the test is over. */
export async function open(dataDir: string, options: Partial<EmbeddedOptions> = {}): Promise<Embedded> {
  const onFatal = (message: string) => expect.unreachable(message);
  const database = await openEmbedded(dataDir, { onFatal, ...options });
  onTestFinished(() => database.close());
  return database;
}

/** Runs a task of child.js on a data directory, in a process that is killed when the test is over. */
export function startChild(task: string, dataDir: string): ChildProcess {
  const file = fileURLToPath(new URL('./child.js', import.meta.url));
  const child = spawn(process.execPath, [file, task, dataDir], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}
