// Connections of the attacks on the API: opened by hand, read or not.

import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A connection that reads nothing until it is resumed; undefined where none could be had. */
export function openRaw(base: string, bytes: string): Promise<Socket | undefined> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.pause();
    socket.on('error', () => resolve(undefined));
    socket.once('connect', () => {
      if (bytes) socket.write(bytes);
      resolve(socket);
    });
  });
}

/** A request by GET as a browser sends it, for a body as it is. */
export function get(base: string, path: string, fields: Record<string, string> = {}): string {
  const all = { Host: new URL(base).host, 'Accept-Encoding': 'identity', ...fields };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Waits; ends early, without failing, when the signal is aborted. */
export const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => undefined);
