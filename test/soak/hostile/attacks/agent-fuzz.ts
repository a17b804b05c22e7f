// Frames and calls at random, before and after authentication: nothing that an agent says may end more than its session.

import { hostileFrames, seeded } from '../agent-random.ts';
import { dial, dialTenant, pause, push } from '../agent-wire.ts';
import type { Attack, Counts } from '../attack.ts';

/** Connections to a second, and frames of each. */
const PER_SECOND = 10;
const FRAMES = 200;

export const attack: Attack = {
  name: 'E19 frames and calls at random at the agent port',
  async run(target, signal) {
    const counts: Counts = { 'sessions of strangers': 0, 'sessions of the tenant': 0, frames: 0, 'turned away': 0 };
    for (let seed = Date.now(); !signal.aborted; seed++) {
      const random = seeded(seed);
      const isTenant = random() < 0.5;
      const socket = await (isTenant ? dialTenant(target) : dial(target));
      count(counts, !socket ? 'turned away' : isTenant ? 'sessions of the tenant' : 'sessions of strangers');
      if (socket) {
        if (random() < 0.7) socket.resume();
        for (const bytes of hostileFrames(random, FRAMES)) {
          if (!(await push(socket, bytes))) break;
          count(counts, 'frames');
        }
        if (random() < 0.5) socket.destroy();
        else socket.destroySoon();
      }
      await pause(1000 / PER_SECOND, signal);
    }
    return counts;
  },
};

function count(counts: Counts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
