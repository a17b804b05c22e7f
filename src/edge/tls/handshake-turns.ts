// When the TLS handshakes of visitors begin. One within the budget of its address begins at once. What is beyond waits in a fair queue, and
// gets a share of the thread's time while other addresses have handshakes too: nobody who sends ClientHellos as fast as he can
// is what everybody else waits for. Each worker has budgets and queues of its own.

import type { Socket } from 'node:net';
import type { Networks } from '../../net/networks.ts';
import { abortSocket } from '../../protocol/relay.ts';
import { FairQueue } from '../../tunnel/connections/fair-queue.ts';
import { HandshakeBudgets, HandshakePace } from '../../tunnel/connections/handshake-limits.ts';
import { addressBlock, ipOf } from '../../tunnel/network/peer.ts';

/**
 * What an address (IPv6: a /64) may begin without waiting. A browser needs six at most. What begins at once is what all others wait for:
 * in `npm run soak -- hostile`, the longest wait of another was 183 ms with 100, and 103 ms with 25.
 */
const BUDGET = { burst: 25, perSecond: 20 };
/** Handshakes of one address that have begun and are not over. */
const UNDER_WAY_PER_ADDRESS = 256;
/** Connections whose handshake waits, of one address and in all. One more is closed. */
const WAITING_PER_ADDRESS = 384;
const WAITING_MAX = 4096;
/** For how long another address counts as one that has handshakes too; milliseconds. */
const OTHERS_MS = 1000;

export interface HandshakeCounts {
  /** Those that had to wait. */
  delayed: number;
  /** Those that were closed: too many waited. */
  refused: number;
}

export interface HandshakeTurnsOptions {
  /** A clock that never goes back, in milliseconds. */
  now: () => number;
  /** Whose connections are those of many: none of them waits. */
  proxies?: Pick<Networks, 'has'> | undefined;
}

interface Turn {
  socket: Socket;
  begin: () => void;
}

export class HandshakeTurns {
  /** Since the start. */
  readonly counts: HandshakeCounts = { delayed: 0, refused: 0 };
  readonly #options: HandshakeTurnsOptions;
  readonly #budgets: HandshakeBudgets;
  readonly #pace: HandshakePace;
  readonly #waiting = new FairQueue<Turn>();
  /** The address of each connection whose handshake is under way, and how many each address has. */
  readonly #underWay = new Map<Socket, string>();
  readonly #perAddress = new Map<string, number>();
  /** The two addresses that began handshakes last, and when. */
  #last = { block: '', at: Number.NEGATIVE_INFINITY };
  #lastOther = this.#last;
  #timer: NodeJS.Timeout | undefined;
  #isScheduled = false;

  constructor(options: HandshakeTurnsOptions) {
    this.#options = options;
    this.#budgets = new HandshakeBudgets(BUDGET, options.now);
    this.#pace = new HandshakePace(options.now);
  }

  /**
   * Begins a handshake when it is its turn, which is at once, later, or never: then the connection is closed.
   * @param begin runs at most once, and not when the socket is closed before.
   */
  take(socket: Socket, begin: () => void): void {
    const ip = ipOf(socket);
    if (this.#options.proxies?.has(ip)) return void begin();
    const block = addressBlock(ip);
    const waiting = this.#waiting.sizeOf(block);
    if (waiting === 0 && this.#hasRoom(block) && this.#budgets.spend(block)) {
      this.#note(block);
      this.#enter(socket, block);
      return void begin();
    }
    if (waiting >= WAITING_PER_ADDRESS || this.#waiting.size >= WAITING_MAX) {
      this.counts.refused++;
      return void abortSocket(socket);
    }
    this.counts.delayed++;
    const turn = { socket, begin };
    this.#waiting.add(block, turn);
    socket.once('close', () => this.#waiting.remove(block, turn));
    this.#schedule();
  }

  /** The handshake of a connection is over. */
  end(socket: Socket): void {
    const block = this.#underWay.get(socket);
    if (block === undefined) return;
    this.#underWay.delete(socket);
    const left = (this.#perAddress.get(block) ?? 1) - 1;
    if (left === 0) this.#perAddress.delete(block);
    else this.#perAddress.set(block, left);
    if (this.#waiting.size > 0) this.#schedule();
  }

  #enter(socket: Socket, block: string): void {
    this.#underWay.set(socket, block);
    this.#perAddress.set(block, (this.#perAddress.get(block) ?? 0) + 1);
    socket.once('close', () => this.end(socket));
  }

  #hasRoom(block: string): boolean {
    return (this.#perAddress.get(block) ?? 0) < UNDER_WAY_PER_ADDRESS;
  }

  /** One in each turn of the event loop, so that what others do comes in between. */
  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#serveNext();
    });
  }

  #serveNext(): void {
    const { waitMs } = this.#pace;
    let chosen = '';
    const turn = this.#waiting.next((block) => {
      chosen = block;
      return this.#hasRoom(block) && (waitMs === 0 || this.#isAlone(block));
    });
    if (turn) {
      this.#note(chosen);
      this.#enter(turn.socket, chosen);
      this.#pace.run(turn.begin);
      return void this.#schedule();
    }
    // Others wait for room, which ends of handshakes and connections make.
    if (waitMs === 0 || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#schedule();
    }, waitMs).unref();
  }

  #note(block: string): void {
    if (block !== this.#last.block) this.#lastOther = this.#last;
    this.#last = { block, at: this.#options.now() };
  }

  /** Whether nobody else has begun a handshake of late. */
  #isAlone(block: string): boolean {
    const other = block === this.#last.block ? this.#lastOther : this.#last;
    return this.#options.now() - other.at > OTHERS_MS;
  }
}
