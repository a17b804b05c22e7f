// What the agents of one account may have of this node, together: so that no account takes what is there for all.

import { ByteBudget } from '../../protocol/byte-budget.ts';
import { type ConcurrencyLimit, limitConcurrency } from '../../protocol/concurrency-limit.ts';
import { AccountPorts } from '../bind/account-ports.ts';
import { BindQueue } from '../bind/bind-queue.ts';
import { AgentError } from '../control/agent-errors.ts';
import type { TcpPorts } from '../control/tcp-ports.ts';
import type { TunnelSettings } from '../control/tunnel-settings.ts';

/** Bytes of calls under way. */
const CALL_BYTES = 16 * 1024 * 1024;
/** Calls but for binds that are worked on at once: the others wait, in the order in which they came. */
const CONCURRENT_CALLS_MAX = 8;

/** The share of one account. */
export interface AccountQuota {
  readonly callBytes: ByteBudget;
  readonly bindQueue: BindQueue;
  readonly limitCalls: ConcurrencyLimit;
  /** The way to the doors for the tunnels of this account. */
  readonly tcpPorts: TcpPorts;
  /** A session of the account is over. To be called once for each that `join` counted. */
  leave(): void;
}

interface QuotaState extends AccountQuota {
  sessions: number;
  readonly tcpPorts: AccountPorts;
}

export class AccountQuotas {
  readonly #settings: Pick<TunnelSettings, 'maxSessionsPerAccount' | 'maxTcpPortsPerAccount'>;
  readonly #doors: TcpPorts;
  readonly #shares = new Map<string, QuotaState>();

  constructor(settings: Pick<TunnelSettings, 'maxSessionsPerAccount' | 'maxTcpPortsPerAccount'>, doors: TcpPorts) {
    this.#settings = settings;
    this.#doors = doors;
  }

  /** Counts a session of an account. @throws {AgentError} when it has as many as it may. */
  join(accountId: string): AccountQuota {
    const max = this.#settings.maxSessionsPerAccount;
    const share = this.#shares.get(accountId) ?? this.#newShare(accountId);
    if (share.sessions >= max) throw new AgentError('tooManySessions', { max });
    share.sessions++;
    return share;
  }

  #newShare(accountId: string): QuotaState {
    const forget = () => {
      if (share.sessions === 0 && share.tcpPorts.size === 0) this.#shares.delete(accountId);
    };
    const share: QuotaState = {
      sessions: 0,
      callBytes: new ByteBudget(CALL_BYTES),
      bindQueue: new BindQueue(),
      limitCalls: limitConcurrency(CONCURRENT_CALLS_MAX),
      tcpPorts: new AccountPorts(this.#doors, this.#settings.maxTcpPortsPerAccount, forget),
      leave() {
        share.sessions--;
        forget();
      },
    };
    this.#shares.set(accountId, share);
    return share;
  }
}
