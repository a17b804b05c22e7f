// The registry of all sessions of this node: it replaces sessions and applies changes of credentials to them.

import { SESSION_REPLACED } from '../../protocol/messages/session-end.ts';
import { ErrorCode } from '../../protocol/mux/stream.ts';
import { aclRefusal, bindError } from '../bind/bind-tunnel.ts';
import { allows, type BindTarget } from '../control/acl.ts';
import { AgentError } from '../control/agent-errors.ts';
import { RefusalCounters } from '../control/refusal-counters.ts';
import type { Grant, Registrar } from '../control/registrar.ts';
import type { CommandOutcome, SessionCommand, SessionCommands } from '../control/session-commands.ts';
import { hasTcpPort } from '../endpoints/endpoint-registry.ts';
import type { LiveTunnel } from '../endpoints/live-tunnel.ts';
import { announcedRefusals } from './send-command.ts';
import type {
  AdmittedSession,
  AnnouncedRefusal,
  RegisteredSession,
  RoundTrip,
  SessionDeps,
  SessionEnd,
  SessionRegistry,
} from './session-types.ts';
import { truncateText } from './text-limits.ts';

/** The longest delay of a timer, in milliseconds. */
const TIMER_MAX_MS = 2 ** 31 - 1;
/** The delay before a failed call to the control plane is retried; milliseconds. */
const RETRY_MS = 1000;

type AgentSessionsDeps = Pick<SessionDeps, 'time' | 'onFailure' | 'onEvent' | 'endpoints' | 'addresses'> & {
  registrar: Registrar;
};

/** The sessions of this node. */
export class AgentSessions implements SessionCommands, SessionRegistry {
  readonly refusals = new RefusalCounters();
  readonly #deps: AgentSessionsDeps;
  readonly #byId = new Map<string, RegisteredSession>();
  readonly #byLeg = new Map<string, RegisteredSession>();
  readonly #unsubscribe: (() => void)[];
  /** The reports to the control plane that are in progress, by session. */
  readonly #pendingReports = new Map<string, Promise<void>>();
  /** When sessions of a credential are checked again, as an authtoken of it is no longer accepted then. */
  readonly #expiries = new Map<string, NodeJS.Timeout>();
  #isClosed = false;

  constructor(deps: AgentSessionsDeps) {
    this.#deps = deps;
    this.#unsubscribe = [
      deps.registrar.onGrantChange((credentialId) => void this.#recheck(credentialId).catch(deps.onFailure)),
      deps.registrar.onSessionReplaced((id) =>
        this.#byId.get(id)?.close(ErrorCode.CANCELLED, `${SESSION_REPLACED} elsewhere`),
      ),
      deps.addresses.onChange((accountIds) => {
        for (const session of [...this.#byId.values()])
          if (!accountIds || accountIds.includes(session.accepted?.accountId ?? '')) this.#checkAddress(session);
      }),
    ];
    deps.registrar.onLeaseRevived(() => void this.#stopTakenTunnels().catch(deps.onFailure));
  }

  /** The sessions of admitted agents. */
  get all(): readonly RegisteredSession[] {
    return [...this.#byId.values()];
  }

  get size(): number {
    return this.#byId.size;
  }

  /** The last heartbeat of a session; undefined when the session is on another node, or had no heartbeat yet. */
  roundTrip(sessionId: string): RoundTrip | undefined {
    return this.#byId.get(sessionId)?.roundTrip;
  }

  /** The commands that the agent of a session does not support; undefined when the session is on another node. */
  announcedRefusals(sessionId: string): AnnouncedRefusal[] | undefined {
    const accepted = this.#byId.get(sessionId)?.accepted;
    return accepted && announcedRefusals(accepted.auth);
  }

  add(session: RegisteredSession, admitted: AdmittedSession): void {
    const { sessionId, accountId, credentialId } = admitted;
    this.#byId.set(sessionId, session);
    this.#byLeg.set(legKey(admitted), session);
    this.#deps.onEvent('agent connected', { sessionId, credentialId, accountId });
    // The credential may have changed since the authtoken was checked, before this session could be notified.
    const refresh = async () => {
      this.#apply(session, await this.#deps.registrar.grant(credentialId));
      this.#checkAddress(session);
    };
    void refresh().catch(this.#deps.onFailure);
  }

  evict(accountId: string, clientId: string, leg: number, by: string): void {
    const earlier = this.#byLeg.get(legKey({ accountId, clientId, leg }));
    earlier?.close(ErrorCode.CANCELLED, `${SESSION_REPLACED} from ${by}`);
  }

  remove(session: RegisteredSession, admitted: AdmittedSession, end: SessionEnd): void {
    const { sessionId, accountId } = admitted;
    this.#byId.delete(sessionId);
    if (this.#byLeg.get(legKey(admitted)) === session) this.#byLeg.delete(legKey(admitted));
    this.#deps.onEvent('agent disconnected', { sessionId, accountId, reason: end.reason });
    const closed = this.#reportClosed(sessionId, end).finally(() => this.#pendingReports.delete(sessionId));
    this.#pendingReports.set(sessionId, closed);
  }

  /** As `SessionChallenges` of a session of this node. One that is not here is over. */
  async challenge(sessionId: string): Promise<boolean> {
    if (await this.#byId.get(sessionId)?.isAlive()) return false;
    await this.#pendingReports.get(sessionId);
    return true;
  }

  async command(sessionId: string, command: SessionCommand): Promise<CommandOutcome> {
    const session = this.#byId.get(sessionId);
    if (!session) return 'unreachable';
    try {
      const refused = await session.command(command);
      return refused === null ? 'done' : { refused };
    } catch {
      return 'unreachable';
    }
  }

  /** Closes every session, as the gateway stops. Agents are expected to reconnect. */
  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    for (const timer of this.#expiries.values()) clearTimeout(timer);
    for (const session of [...this.#byId.values()]) session.close(ErrorCode.NONE, 'the gateway is stopping');
    this.#isClosed = true;
    await Promise.all(this.#pendingReports.values());
  }

  async #reportClosed(sessionId: string, { holdMs, reason, isGraceful, cause }: SessionEnd): Promise<void> {
    const error = isGraceful ? '' : truncateText(reason);
    for (;;) {
      try {
        return await this.#deps.registrar.sessionClosed(sessionId, holdMs, error, cause);
      } catch (error) {
        this.#deps.onFailure(error);
        if (this.#isClosed) return; // The row ends with the node's lease.
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** Stops the tunnels whose addresses other agents have bound while the lease of this node had ended. The others go on. */
  async #stopTakenTunnels(): Promise<void> {
    const served = [...this.#byId.values()].flatMap((session) =>
      (session.accepted?.tunnels.addressed ?? []).map((tunnel) => ({ session, tunnel })),
    );
    const taken = new Set(await this.#deps.registrar.takenTunnels(served.map(({ tunnel }) => tunnel.tunnelId)));
    for (const { session, tunnel } of served) {
      if (!taken.has(tunnel.tunnelId) || !tunnel.isOpen) continue;
      const target = tunnel.proto === 'tcp' ? `${tunnel.hostname}:${tunnel.port}` : tunnel.hostname;
      await session.stopTunnel(tunnel.tunnelId, bindError({ refused: 'inUse', target }));
    }
  }

  /** Checks the tunnels of sessions against their current ACL. @param credentialId whose sessions; null for all. */
  async #recheck(credentialId: string | null): Promise<void> {
    const affected = [...this.#byId.values()].filter(
      ({ accepted }) => credentialId === null || accepted?.credentialId === credentialId,
    );
    const ids = new Set(affected.map(({ accepted }) => accepted?.credentialId ?? ''));
    const grants = new Map(
      await Promise.all([...ids].map(async (id) => [id, await this.#deps.registrar.grant(id)] as const)),
    );
    for (const session of affected) this.#apply(session, grants.get(session.accepted?.credentialId ?? '') ?? null);
  }

  /** Whether the authtoken of a session is accepted. One that is for a while only is checked again then. */
  #checkAuthtoken({ accepted }: RegisteredSession, { credentialId, tokenNumber, previousUntil }: Grant): boolean {
    const age = tokenNumber - (accepted?.tokenNumber ?? tokenNumber);
    if (!(age > 0)) return true;
    const left = (previousUntil ?? 0) - this.#deps.time();
    if (age > 1 || left <= 0) return false;
    clearTimeout(this.#expiries.get(credentialId));
    const check = () => {
      this.#expiries.delete(credentialId);
      void this.#recheck(credentialId).catch(this.#deps.onFailure);
    };
    this.#expiries.set(credentialId, setTimeout(check, Math.min(left, TIMER_MAX_MS)).unref());
    return true;
  }

  /** Ends a session from an address that its account does not admit any more. */
  #checkAddress(session: RegisteredSession): void {
    const { accountId = '', ip = '' } = session.accepted ?? {};
    if (this.#deps.addresses.of(accountId)?.refuses(ip))
      session.close(ErrorCode.CANCELLED, 'the account does not admit agents from this address');
  }

  #apply(session: RegisteredSession, grant: Grant | null): void {
    if (grant === null) {
      session.close(ErrorCode.CANCELLED, 'the credential was revoked');
      return;
    }
    if (!this.#checkAuthtoken(session, grant)) {
      session.close(ErrorCode.CANCELLED, 'the authtoken was replaced by a new one');
      return;
    }
    if (session.accepted) session.accepted.allowance.acl = grant.acl;
    const stop = (tunnelId: string, error: AgentError) =>
      void session.stopTunnel(tunnelId, error).catch(this.#deps.onFailure);
    for (const tunnel of session.accepted?.tunnels.addressed ?? []) {
      this.#deps.endpoints.reportChange(tunnel.tunnelId); // Other nodes know the rules of its ACL.
      const target = targetOf(tunnel);
      const internal = tunnel.rules?.leadsTo?.find((domain) => !allows(grant.acl, { type: 'domain', domain }));
      if (!allows(grant.acl, target)) stop(tunnel.tunnelId, bindError(aclRefusal(target)));
      else if (internal) stop(tunnel.tunnelId, new AgentError('forwardDenied', { target: internal }));
    }
    for (const [tunnelId, labels] of session.accepted?.tunnels.labelled ?? []) {
      const denied = Object.entries(labels).find(([key, value]) => !allows(grant.acl, { type: 'label', key, value }));
      if (denied) stop(tunnelId, bindError({ refused: 'labelDenied', target: denied.join('=') }));
    }
  }
}

/** The key of an agent's session with this leg number. */
function legKey({ accountId, clientId, leg }: Pick<AdmittedSession, 'accountId' | 'clientId' | 'leg'>): string {
  return `${accountId} ${clientId} ${leg}`;
}

function targetOf(tunnel: LiveTunnel): BindTarget {
  const { hostname, port } = tunnel;
  return hasTcpPort(tunnel) ? { type: 'address', host: hostname, port } : { type: 'domain', domain: hostname };
}
