// Connections that are opened at once and kept, and how many of them each process has.

import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, onTestFinished } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type ProcessGroup, WORKERS } from './support.ts';

/** The share of each of two workers in connections that are kept. */
export const SHARE_MIN = 0.4;

export interface Kept {
  /** Resolves when the kernel has all, be they accepted or not. */
  open: Promise<unknown>;
  /** Ends them. */
  end(): void;
}

/** Opens connections at once. They end with the test. @param ca for TLS. */
export function openAtOnce(listener: string, count: number, ca?: string): Kept {
  const [host = '', port] = listener.split(':');
  const to = { host, port: Number(port) };
  const sockets = Array.from({ length: count }, (): Socket => (ca ? connectTls({ ...to, ca }) : connect(to)));
  const end = () => sockets.forEach((socket) => void socket.destroy());
  onTestFinished(end);
  const open = Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.on('error', () => {}); // The end of a worker is none of the test's.
  return { open, end };
}

/** The share of each worker in the connections of a listener, when they have so many in all. */
export async function sharesOf(group: ProcessGroup, listener: string, count: number): Promise<number[]> {
  const open = () =>
    connectionsOf(
      WORKERS.map((worker) => group.pid(worker) ?? 0),
      listener,
    );
  // A look takes long itself, and agents of the test are in this process.
  const patience = { timeout: 30_000, interval: 200 };
  await eventually(() => expect(open().reduce((sum, one) => sum + one)).toBe(count), patience);
  return open().map((one) => (count === 0 ? 0 : one / count));
}

/** How many connections of a listener each of some processes has. */
export function connectionsOf(pids: readonly number[], listener: string): number[] {
  const port = Number(listener.split(':')[1]).toString(16).toUpperCase().padStart(4, '0');
  const accepted = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(`:${port}`) && state !== LISTEN)
    .map((fields) => `socket:[${fields[9]}]`);
  const sockets = new Set(accepted);
  const linkOf = (path: string) => {
    try {
      return readlinkSync(path);
    } catch {
      return ''; // It has been closed.
    }
  };
  return pids.map(
    (pid) => readdirSync(`/proc/${pid}/fd`).filter((fd) => sockets.has(linkOf(`/proc/${pid}/fd/${fd}`))).length,
  );
}
/** `TCP_LISTEN` of tcp_states.h. */
const LISTEN = '0A';
