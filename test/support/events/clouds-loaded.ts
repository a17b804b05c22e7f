// Which packages a process has loaded, told by its inspector: modules of both kinds, whoever asked for them.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { WebSocket } from 'ws';
import type { GatewayProcess } from '../gateway/process.ts';
import { root } from '../root.ts';

/** What a process is to be started with, so that it can be asked. */
export const inspected = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/** What a file of the bundle was made of; any other file is itself. */
function sourcesOf(url: string): string[] {
  if (!url.includes('/dist/bundle/')) return [url];
  const { files } = JSON.parse(readFileSync(join(root, 'dist/bundle/inputs.json'), 'utf8'));
  return files[basename(url)] ?? [];
}

/** The names of the packages, as `@scope/name`. */
export async function loadedPackages({ stderr }: GatewayProcess): Promise<Set<string>> {
  const url = /ws:\/\/\S+/.exec(stderr.join('\n'))?.[0];
  if (!url) throw new Error('the process has no inspector');
  const socket = new WebSocket(url);
  const packages = new Set<string>();
  // It tells of every script there is before it answers.
  const answered = new Promise<void>((resolve) => {
    socket.on('message', (text) => {
      const { id, params } = JSON.parse(String(text)) as { id?: number; params?: { url?: string } };
      for (const file of sourcesOf(params?.url ?? '')) {
        const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(`/${file}`) ?? [];
        if (name) packages.add(name);
      }
      if (id === 1) resolve();
    });
  });
  await once(socket, 'open');
  socket.send(JSON.stringify({ id: 1, method: 'Debugger.enable' }));
  await answered;
  socket.close();
  await once(socket, 'close');
  return packages;
}
