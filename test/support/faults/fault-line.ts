// One direction of a connection through the fault proxy: bytes, an end and a reset, in order, each at its time.

import type { Socket } from 'node:net';

/** One direction of a connection. */
export interface Line {
  /** What is sent from now on arrives so much later, in order and at the same throughput; TCP's own handshake does not. */
  delayMs: number;
  /** Of each connection by itself. The sender feels it when 50 ms worth are waiting. */
  bytesPerSecond: number;
  /**
   * `stall` is an outage that TCP survives: nothing is read nor delivered until it is over, then everything is.
   * `black hole` is one that it does not, as when a NAT forgets a connection: what is sent is lost, its ends and resets
   * too, and nobody is told; a direction that has lost anything stays dead afterwards.
   * During both, a new connection is accepted and does not reach the target before both directions are well again.
   */
  outage: 'none' | 'stall' | 'black hole';
}

/** What became of the bytes of one direction. */
export interface Traffic {
  /** How many the receiver's socket has taken. */
  readonly carried: number;
  /** How many are on their way. */
  readonly held: number;
  /** How many were at most; a test may set it back. */
  mostHeld: number;
  /** How many will never arrive. */
  readonly lost: number;
  /** A black hole has taken some, an end or a reset: nothing more will come. */
  readonly dead: boolean;
}

export const PERFECT: Line = { delayMs: 0, bytesPerSecond: Number.POSITIVE_INFINITY, outage: 'none' };
/** A limited line is a queue in front of a bottleneck: what passes in one piece, and how much may wait. */
const PIECE_MS = 10;
const WAITING_MS = 50;
/** What a receiver's socket may have waiting before no more is given to it. */
const BUFFER = 2 ** 20;

/** Node tells of a reset that comes together with bytes as of an end. A write of nothing fails then. */
export const NOTHING = Buffer.alloc(0);

/** What is on its way. */
interface Parcel {
  /** On the clock of `performance.now()`. */
  at: number;
  what: Buffer | 'end' | 'reset';
  next?: Parcel;
}

/**
 * What `from` brings is written to `to` when its time has come.
 * @param window how many bytes may be on their way.
 */
export function pipe(from: Socket, to: Socket, line: Line, window: number) {
  const traffic = { carried: 0, held: 0, mostHeld: 0, lost: 0, dead: false };
  let first: Parcel | undefined;
  let last: Parcel | undefined;
  let timer: NodeJS.Timeout | undefined;
  /** When the bottleneck of a limited line will have passed all that is held. */
  let passed = 0;
  let ended = false;
  let writable = !to.pending;

  const flows = () => line.outage === 'none' && writable && !to.destroyed;

  const put = (what: Parcel['what']) => {
    const size = typeof what === 'string' ? 0 : what.length;
    if (line.outage === 'black hole') traffic.dead = true;
    if (traffic.dead || to.destroyed || (ended && what !== 'reset')) {
      traffic.lost += size;
      return;
    }
    if (what === 'end') ended = true;
    passed = Math.max(passed, performance.now()) + (1000 * size) / line.bytesPerSecond;
    const parcel: Parcel = { at: passed + line.delayMs, what };
    if (last) last.next = parcel;
    else first = parcel;
    last = parcel;
    traffic.held += size;
    traffic.mostHeld = Math.max(traffic.mostHeld, traffic.held);
  };

  const send = (what: Parcel['what']) => {
    if (typeof what === 'string') put(what);
    else {
      const piece = Math.min(what.length, Math.ceil((line.bytesPerSecond * PIECE_MS) / 1000));
      for (let start = 0; start < what.length; start += piece) put(what.subarray(start, start + piece));
    }
    if (timer) gate();
    else deliver();
  };

  const deliver = () => {
    clearTimeout(timer);
    timer = undefined;
    const now = performance.now();
    to.cork();
    while (first && first.at <= now && flows()) {
      const { what } = first;
      first = first.next;
      if (what === 'end') to.end();
      else if (what === 'reset') {
        to.uncork();
        abort(to);
      } else {
        traffic.held -= what.length;
        traffic.carried += what.length;
        to.write(what);
        writable = to.writableLength < BUFFER;
      }
    }
    to.uncork();
    if (!first) last = undefined;
    else if (flows()) timer = setTimeout(deliver, Math.ceil(first.at - now));
    gate();
  };

  /** Reads on when there is room, or when what comes is lost anyway. */
  const gate = () => {
    const loses = traffic.dead || ended || to.destroyed || line.outage === 'black hole';
    const room = flows() && traffic.held < window && passed - performance.now() < WAITING_MS;
    if (loses || room) from.resume();
    else from.pause();
  };

  const drop = () => {
    traffic.lost += traffic.held;
    traffic.held = 0;
    first = last = undefined;
    deliver();
  };

  const shape = (change: Partial<Line>) => {
    Object.assign(line, change);
    if (line.outage === 'black hole' && first) {
      traffic.dead = true;
      drop();
    } else deliver();
  };

  const goOn = () => {
    writable = true;
    deliver();
  };
  to.on('connect', goOn).on('drain', goOn).on('close', drop);
  from
    .on('data', send)
    .on('end', () => {
      if (from.writable && from.writableLength === 0) from.write(NOTHING, (error) => error || send('end'));
      else send('end');
    })
    .on('close', (failed) => send(failed || !from.readableEnded ? 'reset' : 'end'))
    // A close follows each.
    .on('error', () => undefined);
  gate();

  return {
    line,
    traffic,
    send,
    shape,
    heal() {
      passed = 0;
      for (let parcel = first; parcel; parcel = parcel.next) parcel.at = 0;
      shape(PERFECT);
    },
  };
}

/**
 * A RST, where one can be sent: not before a socket is connected, nor while its FIN is being sent, when libuv refuses and
 * Node never closes the descriptor.
 */
export function abort(socket: Socket): void {
  const isEnding = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
  if (socket.pending || isEnding) socket.destroy();
  else socket.resetAndDestroy();
}
