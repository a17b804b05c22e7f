// The sockets on which directories are served to this process only.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileServer, type Directory } from './serve-directory.ts';

/** Where directories are served, for as long as the process lives; by what is served. */
const sockets = new Map<string, Promise<string>>();
let folder: string | undefined;

/**
 * Serves a directory, once.
 * @returns the path of the socket. Nobody but the user of this process can connect to it: its folder has the mode 0700.
 */
export function socketOf(directory: Directory): Promise<string> {
  const key = JSON.stringify(directory);
  const known = sockets.get(key);
  if (known) return known;
  const started = start(directory, sockets.size);
  sockets.set(key, started);
  started.catch(() => sockets.delete(key));
  return started;
}

async function start(directory: Directory, number: number): Promise<string> {
  const server = createFileServer(directory);
  server.unref(); // It does not keep the process alive.
  const path = join(socketFolder(), `${number}.sock`);
  await once(server.listen(path), 'listening');
  return path;
}

function socketFolder(): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\tunnel-agent-${process.pid}`;
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'tunnel-agent-'));
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    folder = made;
  }
  return folder;
}
