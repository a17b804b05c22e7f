// Both ends of connections through a fault proxy, as its tests look at them.

import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect } from 'vitest';
import { eventually } from '../eventually.ts';
import { NOTHING } from './fault-line.ts';
import { type Direction, type FaultProxy, type ProxiedConnection, startFaultProxy } from './fault-proxy.ts';

export const MIB = 2 ** 20;
/** More than any test lasts. */
export const NEVER_MS = 3_600_000;
export const POLL = { timeout: 10_000, interval: 2 };

/** An end of a connection: what it got, and how it was ended. */
export interface Peer {
  socket: Socket;
  text: string;
  ended: boolean;
  /** The code of its error, or `closed`; undefined while it is open. */
  fate: string | undefined;
}

function peer(socket: Socket): Peer {
  const own: Peer = { socket, text: '', ended: false, fate: undefined };
  let error: string | undefined;
  socket
    .on('data', (bytes) => {
      if (own.text.length < 1000) own.text += bytes;
    })
    .on('end', () => {
      own.ended = true;
      if (socket.writable) socket.write(NOTHING);
    })
    .on('error', (thrown: NodeJS.ErrnoException) => {
      error = thrown.code;
    })
    .on('close', () => {
      own.fate = error ?? 'closed';
    });
  return own;
}

/** Each direction of a connection in the same terms. */
export const ways = [
  { way: 'up', back: 'down', from: 'client', to: 'server' },
  { way: 'down', back: 'up', from: 'server', to: 'client' },
] as const satisfies { way: Direction; back: Direction; from: 'client' | 'server'; to: 'client' | 'server' }[];

/** A target on a free port, and a proxy in front of it. */
export interface Lab {
  proxy: FaultProxy;
  targetPort: number;
  /** Every end of every connection since the last `tidy`. */
  peers: Peer[];
  /** The target's end of the next connection. */
  arrival(): Promise<Peer>;
  /** A client's end, of this proxy unless told otherwise. */
  dial(port?: number): Peer;
  /** A connection from end to end. */
  open(by?: FaultProxy): Promise<{ client: Peer; server: Peer; connection: ProxiedConnection }>;
  /** Goes through a whole exchange: whatever was sent before it has arrived if it ever will. */
  works(): Promise<void>;
  /** Closes every connection, and heals the proxy. */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

export async function startLab(): Promise<Lab> {
  const peers: Peer[] = [];
  const expected: ((server: Peer) => void)[] = [];
  const known = (socket: Socket) => {
    const own = peer(socket);
    peers.push(own);
    return own;
  };
  const target = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const server = known(socket);
    for (const resolve of expected.splice(0)) resolve(server);
  });
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  const targetPort = (target.address() as AddressInfo).port;
  const proxy = await startFaultProxy('127.0.0.1', targetPort);

  const lab: Lab = {
    proxy,
    targetPort,
    peers,
    arrival: () => new Promise((resolve) => expected.push(resolve)),
    dial: (port = proxy.port) => known(connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })),
    async open(by = proxy) {
      const [server, connection, client] = await Promise.all([lab.arrival(), by.connected(), lab.dial(by.port)]);
      return { client, server, connection };
    },
    async works() {
      const { client, server, connection } = await lab.open();
      client.socket.write('ping');
      await has(server, 'ping');
      server.socket.write('pong');
      await has(client, 'pong');
      await connection.cut();
    },
    async tidy() {
      for (const { socket } of peers.splice(0)) socket.destroy();
      await proxy.cut();
      await proxy.heal();
    },
    async close() {
      await lab.tidy();
      await proxy.close();
      target.close();
    },
  };
  return lab;
}

export const has = (of: Peer, text: string) => eventually(() => expect(of.text).toBe(text), POLL);
export const hasEnded = (of: Peer) => eventually(() => expect(of.ended).toBe(true), POLL);
export const meets = (of: Peer, fate: string) => eventually(() => expect(of.fate).toBe(fate), POLL);

/** Sends so many random bytes. @returns their digest when the last was taken, and their number. */
export function pour({ socket }: Peer, total: number): [Promise<string>, number] {
  const hash = createHash('md5');
  const block = randomBytes(MIB);
  const sent = new Promise<string>((resolve) => {
    let left = total;
    const more = () => {
      while (left > 0) {
        // Of many sizes, so that nothing is aligned to anything.
        const piece = block.subarray(0, Math.min(left, 1 + ((left * 7919) % MIB)));
        left -= piece.length;
        hash.update(piece);
        if (!socket.write(piece) && left > 0) {
          socket.once('drain', more);
          return;
        }
      }
      socket.end(() => resolve(hash.digest('hex')));
    };
    more();
  });
  return [sent, total];
}

/** Reads to the end. */
export async function drain({ socket }: Peer): Promise<{ digest: string; total: number }> {
  const hash = createHash('md5');
  let total = 0;
  socket.on('data', (bytes: Buffer) => {
    hash.update(bytes);
    total += bytes.length;
  });
  await once(socket, 'end');
  return { digest: hash.digest('hex'), total };
}

/** Resolves when a number has stayed the same for ten looks: there is no event for something that has stopped. */
export async function quiet(read: () => number): Promise<void> {
  let last = Number.NaN;
  let same = 0;
  await eventually(
    () => {
      const now = read();
      same = now === last ? same + 1 : 0;
      last = now;
      expect(same).toBeGreaterThan(10);
    },
    { timeout: 10_000, interval: 10 },
  );
}
