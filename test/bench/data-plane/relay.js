// Distance: a TCP relay, a process of its own, that keeps every byte for a while in each direction. It limits nothing else: order
// stays, and so much may be on the way that no window of TCP is what is measured.
//
//   node relay.js HOST:PORT MILLISECONDS     prints `ready PORT`

import { connect, createServer } from 'node:net';

/** Bytes that may be on their way in one direction of a connection. */
const UNDERWAY_MAX = 64 * 1024 * 1024;
const [target = '', delay = '0'] = process.argv.slice(2);
const [, host, port] = /^(.*):(\d+)$/.exec(target) ?? [];

/** @typedef {import('node:net').Socket} Socket */

const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
  const far = connect({ host, port: Number(port), allowHalfOpen: true, noDelay: true });
  carry(near, far);
  carry(far, near);
});
server.listen(0, '127.0.0.1', () => {
  const { port: own } = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.stdout.write(`ready ${own}\n`);
});

/** One direction. @param {Socket} from @param {Socket} to */
function carry(from, to) {
  /** What is on its way, oldest first; null is the end. @type {{ due: number, chunk: Buffer | null }[]} */
  const underway = [];
  let bytes = 0;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;

  const deliver = () => {
    timer = undefined;
    const now = performance.now();
    to.cork();
    while (underway[0] && underway[0].due <= now && !to.writableNeedDrain) {
      const { chunk } = /** @type {{ chunk: Buffer | null }} */ (underway.shift());
      if (chunk === null) to.end();
      else to.write(chunk);
      bytes -= chunk?.length ?? 0;
    }
    to.uncork();
    if (bytes < UNDERWAY_MAX) from.resume();
    wait();
  };
  const wait = () => {
    const first = underway[0];
    if (!first || timer || to.writableNeedDrain) return;
    timer = setTimeout(deliver, Math.max(0, Math.ceil(first.due - performance.now())));
  };
  const send = (/** @type {Buffer | null} */ chunk) => {
    underway.push({ due: performance.now() + Number(delay), chunk });
    bytes += chunk?.length ?? 0;
    if (bytes >= UNDERWAY_MAX) from.pause();
    wait();
  };
  from.on('data', send).on('end', () => send(null));
  to.on('drain', deliver);
  from.on('error', () => to.destroy());
  from.on('close', () => {
    if (from.errored || !from.readableEnded) to.destroy();
  });
}
