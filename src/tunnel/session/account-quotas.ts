// What the agents of one account may have of this node, together: so that no account takes what is there for all.

import { ByteBudget } from '../../protocol/byte-budget.ts';
import { type Limited, limited } from '../../protocol/limited.ts';
import { PortShare } from '../bind/account-ports.ts';
import { BindQueue } from '../bind/bind-queue.ts';
import { AgentError } from '../control/agent-errors.ts';
import type { TcpDoors } from '../control/tcp-ports.ts';
import type { TunnelSettings } from '../control/tunnel-settings.ts';

/** Bytes of calls under way. */
const CALL_BYTES = 16 * 1024 * 1024;
/** Calls but for binds that are worked on at once: the others wait, in the order in which they came. */
const CALLS_AT_ONCE = 8;

/** The share of one account. */
export interface AccountShare {
  readonly calls: ByteBudget;
  readonly binds: BindQueue;
  readonly inTurn: Limited;
  /** The way to the doors for the tunnels of this account. */
  readonly doors: TcpDoors;
  /** A session of the account is over. To be called once for each that `join` counted. */
  leave(): void;
}

interface Share extends AccountShare {
  sessions: number;
  readonly doors: PortShare;
}

export class AccountShares {
  readonly #settings: Pick<TunnelSettings, 'maxSessionsPerAccount' | 'maxTcpPortsPerAccount'>;
  readonly #doors: TcpDoors;
  readonly #shares = new Map<string, Share>();

  constructor(settings: Pick<TunnelSettings, 'maxSessionsPerAccount' | 'maxTcpPortsPerAccount'>, doors: TcpDoors) {
    this.#settings = settings;
    this.#doors = doors;
  }

  /** Counts a session of an account. @throws {AgentError} when it has as many as it may. */
  join(accountId: string): AccountShare {
    const max = this.#settings.maxSessionsPerAccount;
    const share = this.#shares.get(accountId) ?? this.#newShare(accountId);
    if (share.sessions >= max) throw new AgentError('tooManySessions', { max });
    share.sessions++;
    return share;
  }

  #newShare(accountId: string): Share {
    const forget = () => {
      if (share.sessions === 0 && share.doors.size === 0) this.#shares.delete(accountId);
    };
    const share: Share = {
      sessions: 0,
      calls: new ByteBudget(CALL_BYTES),
      binds: new BindQueue(),
      inTurn: limited(CALLS_AT_ONCE),
      doors: new PortShare(this.#doors, this.#settings.maxTcpPortsPerAccount, forget),
      leave() {
        share.sessions--;
        forget();
      },
    };
    this.#shares.set(accountId, share);
    return share;
  }
}
