// What the attacks on the agent listener share: TLS, and frames that are written by hand.

import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import type { Target } from './attack.ts';

export const Type = { RESET: 0, DATA: 1, WINDOW: 2, GO_AWAY: 3 } as const;
export const SYN = 2;
const DIAL_MS = 5000;
const ANSWER_MS = 5000;

export function frame(type: number, flags: number, id: number, body = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.alloc(8 + body.length);
  bytes.writeUIntBE(body.length, 0, 3);
  bytes[3] = (type << 4) | flags;
  bytes.writeUInt32BE(id, 4);
  body.copy(bytes, 8);
  return bytes;
}

/** The first frame of a stream of a type. */
export function open(id: number, type: number, text: string | Buffer, flags = SYN): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(type);
  return frame(Type.DATA, flags, id, Buffer.concat([head, Buffer.from(text)]));
}

/** @returns undefined when the gateway does not take the connection. */
export async function dial({ agent, ca }: Target): Promise<TLSSocket | undefined> {
  const [host, port] = agent.split(/:(?=\d+$)/);
  const socket = connect({ host, port: Number(port), ca }).setMaxListeners(0);
  socket.on('error', () => {});
  const isOpen = await settled([once(socket, 'secureConnect').then(() => true)], DIAL_MS, false);
  if (!isOpen) socket.destroy();
  return isOpen ? socket : undefined;
}

/** Dials as the tenant. @returns undefined when it is not let in. */
export async function dialTenant(target: Target): Promise<TLSSocket | undefined> {
  const socket = await dial(target);
  if (!socket) return undefined;
  const text = await ask(socket, 1, 0, { Version: ['3'], ClientId: '', Extra: { AuthToken: target.tenant.authtoken } });
  if (/"Error":""/.test(text)) return socket;
  socket.destroy();
  return undefined;
}

/** Calls, and gives back what was read up to the end of an object: frames and all; '' when nothing came. */
export async function ask(socket: TLSSocket, id: number, type: number, request: object): Promise<string> {
  let text = '';
  let told = (_: string) => {};
  const answered = new Promise<string>((resolve) => {
    told = resolve;
  });
  const take = (chunk: Buffer) => {
    text += chunk.toString('latin1');
    if (text.endsWith('}') || /\}.{8}$/s.test(text)) told(text);
  };
  socket.on('data', take);
  socket.write(open(id, type, JSON.stringify(request)));
  const found = await settled([answered, once(socket, 'close').then(() => '')], ANSWER_MS, '');
  socket.off('data', take);
  return found;
}

/** Writes, and waits until it is taken, the connection is lost, or two seconds are over. @returns whether it goes on. */
export async function push(socket: TLSSocket, bytes: Buffer): Promise<boolean> {
  if (socket.destroyed) return false;
  if (!socket.write(bytes)) await settled([once(socket, 'drain'), once(socket, 'close')], 2000, undefined);
  return !socket.destroyed && socket.writableLength < 4 * 1024 * 1024;
}

/** The first of them; `otherwise` after so long, or when it fails. */
export async function settled<T>(some: Promise<T | unknown>[], ms: number, otherwise: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T>((resolve) => {
    timer = setTimeout(resolve, ms, otherwise);
  });
  const first = Promise.race([...some, late]).catch(() => otherwise) as Promise<T>;
  return first.finally(() => clearTimeout(timer));
}

/** Waits, unless it is told to stop. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
