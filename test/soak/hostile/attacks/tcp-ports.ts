// An agent that tries to take every TCP port, over several sessions, and drops sessions so that ports are kept for them.

import type { TLSSocket } from 'node:tls';
import { ask, dialTenant, pause } from '../agent-wire.ts';
import type { Attack, Counts } from '../attack.ts';

const BIND = 1;
const SESSIONS = 4;
/** Binds of one session to a second. */
const PER_SECOND = 25;

export const attack: Attack = {
  name: 'A4 one agent takes every TCP port',
  async run(target, signal) {
    const counts: Counts = { bound: 0, refused: 0, lost: 0 };
    const bind = { Id: '', Proto: 'tcp', ForwardsTo: '', Opts: { Addr: '' }, Extra: {} };
    const session = async (): Promise<void> => {
      let socket: TLSSocket | undefined;
      for (let id = 3; !signal.aborted; id += 2) {
        if (!socket || socket.destroyed) {
          socket = await dialTenant(target);
          id = 3;
          if (!socket) count(counts, 'lost');
        } else {
          const text = await ask(socket, id, BIND, bind);
          if (/"URL":"tcp:/.test(text)) count(counts, 'bound');
          else count(counts, text === '' ? 'lost' : 'refused');
          // It answers no signs of life, and so is dropped now and then; what it had is kept for it for a while.
          if (id > 500) socket.destroy();
        }
        await pause(1000 / PER_SECOND, signal);
      }
      socket?.destroy();
    };
    await Promise.all(Array.from({ length: SESSIONS }, session));
    return counts;
  },
};

function count(counts: Counts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
