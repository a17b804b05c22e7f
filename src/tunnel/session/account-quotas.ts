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
  /** The TCP ports as the tunnels of this account see them. */
  readonly tcpPorts: TcpPorts;
  /** A session of the account is over. To be called once for each that `join` counted. */
  release(): void;
}

interface QuotaState extends AccountQuota {
  sessions: number;
  readonly tcpPorts: AccountPorts;
}

export class AccountQuotas {
  readonly #settings: Pick<TunnelSettings, 'maxSessionsPerAccount' | 'maxTcpPortsPerAccount'>;
  readonly #tcpPorts: TcpPorts;
  readonly #quotas = new Map<string, QuotaState>();

  constructor(settings: Pick<TunnelSettings, 'maxSessionsPerAccount' | 'maxTcpPortsPerAccount'>, tcpPorts: TcpPorts) {
    this.#settings = settings;
    this.#tcpPorts = tcpPorts;
  }

  /** Counts a session of an account. @throws {AgentError} when it has as many as it may. */
  join(accountId: string): AccountQuota {
    const max = this.#settings.maxSessionsPerAccount;
    const quota = this.#quotas.get(accountId) ?? this.#newQuota(accountId);
    if (quota.sessions >= max) throw new AgentError('tooManySessions', { max });
    quota.sessions++;
    return quota;
  }

  #newQuota(accountId: string): QuotaState {
    const removeIfUnused = () => {
      if (quota.sessions === 0 && quota.tcpPorts.size === 0) this.#quotas.delete(accountId);
    };
    const quota: QuotaState = {
      sessions: 0,
      callBytes: new ByteBudget(CALL_BYTES),
      bindQueue: new BindQueue(),
      limitCalls: limitConcurrency(CONCURRENT_CALLS_MAX),
      tcpPorts: new AccountPorts(this.#tcpPorts, this.#settings.maxTcpPortsPerAccount, removeIfUnused),
      release() {
        quota.sessions--;
        removeIfUnused();
      },
    };
    this.#quotas.set(accountId, quota);
    return quota;
  }
}
