// The quotas of each account on this node, so that no account takes the resources of all others.

import { ByteBudget } from '../../protocol/byte-budget.ts';
import { type ConcurrencyLimit, limitConcurrency } from '../../protocol/concurrency-limit.ts';
import { AccountPorts } from '../bind/account-ports.ts';
import { BindQueue } from '../bind/bind-queue.ts';
import { AgentError } from '../control/agent-errors.ts';
import type { TcpPorts } from '../control/tcp-ports.ts';
import type { TunnelSettings } from '../control/tunnel-settings.ts';

/** The bytes of all requests in progress. */
const CALL_BYTES = 16 * 1024 * 1024;
/** The calls other than binds that run at the same time. Further ones wait in a first-in-first-out queue. */
const CONCURRENT_CALLS_MAX = 8;

/** The quota that all agents of one account share. */
export interface AccountQuota {
  readonly callBytes: ByteBudget;
  readonly bindQueue: BindQueue;
  readonly limitCalls: ConcurrencyLimit;
  /** The TCP ports, limited to the account's quota. */
  readonly tcpPorts: TcpPorts;
  /** Releases the place of a closed session. It must be called once for each call of `join`. */
  release(): void;
}

interface QuotaState extends AccountQuota {
  sessions: number;
  readonly tcpPorts: AccountPorts;
}

/** The quotas of all accounts that have a session or a TCP port on this node. */
export class AccountQuotas {
  readonly #settings: Pick<TunnelSettings, 'maxSessionsPerAccount' | 'maxTcpPortsPerAccount'>;
  readonly #tcpPorts: TcpPorts;
  readonly #quotas = new Map<string, QuotaState>();

  constructor(settings: Pick<TunnelSettings, 'maxSessionsPerAccount' | 'maxTcpPortsPerAccount'>, tcpPorts: TcpPorts) {
    this.#settings = settings;
    this.#tcpPorts = tcpPorts;
  }

  /** Counts a session of an account. @throws {AgentError} when the account has reached its limit of sessions. */
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
