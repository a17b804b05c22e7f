// Spreads connections over the workers. All accept from one queue, and whoever runs first takes a burst whole. So a worker that is ahead
// of the others leaves the queue to them for a moment, as nginx (`ngx_accept_disabled`) and Envoy ("exact balance") do.

import type { Server, Socket } from 'node:net';
import { BACKLOG } from '../../edge/addresses.ts';
import { pauseAccepting, resumeAccepting } from '../../net/accept-pause.ts';
import type { ConnectionCounts, CountedListener } from '../../net/connection-counts.ts';

/** How many connections more than the mean of the workers one may have: so many, or this share of the mean. */
const LEAD_MIN = 4;
const LEAD_SHARE = 1 / 16;
/** Or as many as it has closed lately, by half-lives of so many milliseconds: a worker with short connections soon has fewer. */
const CLOSED_HALF_LIFE_MS = 5;
/** How often a worker that waits looks whether the others have caught up; milliseconds. */
const LOOK_MS = 1;
/** After so many looks without a connection that another worker took, it accepts again. Looks take longer where processes lack CPU. */
const LOOKS_MAX = 100;
/** How long it does not wait again when somebody has waited with it: the others are busy, or hang; milliseconds. */
const UNBALANCED_MS = 2000;

export class AcceptBalance {
  readonly #counts: ConnectionCounts;
  readonly #own = new Map<CountedListener, OwnConnections>();
  readonly #turns = new Map<CountedListener, Set<Turns>>();
  #isClosed = false;

  constructor(counts: ConnectionCounts) {
    this.#counts = counts;
  }

  /** Balances the connections of a server that listens. TCP endpoints have one for each port, which count together. */
  add(listener: CountedListener, server: Server): void {
    if (this.#isClosed) return;
    const own = this.#own.get(listener) ?? { open: 0, closed: 0, closedAt: 0 };
    this.#own.set(listener, own);
    this.#tell(listener, own);
    const turns = new Turns(server, (mayLead) => this.#standing(listener, own, mayLead));
    const all = this.#turns.get(listener) ?? new Set();
    this.#turns.set(listener, all.add(turns));
    server.once('close', () => all.delete(turns));
    server.on('connection', (socket: Socket) => {
      own.open++;
      this.#tell(listener, own);
      turns.accepted();
      socket.once('close', () => {
        own.open--;
        own.closed = closedLately(own) + 1;
        own.closedAt = performance.now();
        this.#tell(listener, own);
      });
    });
  }

  /** Leaves the next connections of a listener to the other workers, if this one is ahead of them. */
  standBack(listener: CountedListener): void {
    for (const turns of this.#turns.get(listener) ?? []) turns.standBack();
  }

  /** This worker takes no new connections: the others do not count it any more, and it waits for none. */
  close(): void {
    this.#isClosed = true;
    for (const listener of this.#own.keys()) this.#counts.set(listener, undefined);
  }

  #tell(listener: CountedListener, { open }: OwnConnections): void {
    if (!this.#isClosed) this.#counts.set(listener, open);
  }

  #standing(listener: CountedListener, own: OwnConnections, mayLead: boolean): Standing {
    const { processes, open } = this.#counts.others(listener);
    const mean = (own.open + open) / (processes + 1);
    const lead = mayLead ? Math.max(LEAD_MIN, mean * LEAD_SHARE, closedLately(own)) : 0;
    return { isAhead: !this.#isClosed && own.open > mean + lead, others: open };
  }
}

/** The connections of this worker at one listener. */
interface OwnConnections {
  open: number;
  /** Those closed lately, as of `closedAt`, in milliseconds. */
  closed: number;
  closedAt: number;
}

function closedLately({ closed, closedAt }: OwnConnections): number {
  return closed * 2 ** ((closedAt - performance.now()) / CLOSED_HALF_LIFE_MS);
}

interface Standing {
  isAhead: boolean;
  /** Connections of the other workers. */
  others: number;
}

/** When one server accepts. It always comes to accept again, whatever has become of the other workers. */
class Turns {
  readonly #server: Server;
  readonly #standing: (mayLead: boolean) => Standing;
  #isPaused = false;
  #looks = 0;
  /** The connections of the others at the last look. */
  #others = 0;
  /** Just after a wait in vain: who comes now has waited, too. */
  #hasWaited = false;
  #unbalancedUntil = 0;

  constructor(server: Server, standing: (mayLead: boolean) => Standing) {
    this.#server = server;
    this.#standing = standing;
  }

  /** The server has accepted a connection. */
  accepted(): void {
    if (this.#hasWaited) this.#unbalancedUntil = performance.now() + UNBALANCED_MS;
    this.#hasWaited = false;
    this.standBack();
  }

  /** Waits until the others have caught up. */
  standBack(): void {
    if (this.#isPaused) return;
    const { isAhead, others } = this.#standing(true);
    if (!isAhead || performance.now() < this.#unbalancedUntil || !pauseAccepting(this.#server)) return;
    this.#isPaused = true;
    this.#looks = 0;
    this.#others = others;
    this.#lookLater();
  }

  #lookLater(): void {
    setTimeout(() => this.#look(), LOOK_MS).unref();
  }

  #look(): void {
    const { isAhead, others } = this.#standing(false);
    if (others > this.#others) this.#looks = 0;
    this.#others = others;
    const isInVain = ++this.#looks >= LOOKS_MAX;
    if ((isAhead && !isInVain) || !resumeAccepting(this.#server, BACKLOG)) {
      this.#lookLater();
      return;
    }
    this.#isPaused = false;
    this.#hasWaited = isInVain;
    // Whoever waits is accepted before.
    setImmediate(() => {
      this.#hasWaited = false;
    });
  }
}
