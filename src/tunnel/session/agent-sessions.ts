// All sessions of this node: who replaces whom, and what a changed credential means for them.

import { ErrorCode } from '../../protocol/mux/stream.ts';
import { aclRefusal, bindError } from '../bind/bind-tunnel.ts';
import { allows, type BindTarget } from '../control/acl.ts';
import { AgentError } from '../control/agent-errors.ts';
import { RefusalCounters } from '../control/refusal-counters.ts';
import type { Grant, Registrar } from '../control/registrar.ts';
import type { CommandOutcome, SessionCommand, SessionCommands } from '../control/session-commands.ts';
import type { LiveTunnel } from '../endpoints/live-tunnel.ts';
import type {
  AdmittedSession,
  RegisteredSession,
  RoundTrip,
  SessionDeps,
  SessionEnd,
  SessionRegistry,
} from './session-types.ts';
import { truncateText } from './text-limits.ts';

/** How long to wait before a call to the control plane that failed is made again. */
const RETRY_MS = 1000;

type SessionsDeps = Pick<SessionDeps, 'onFailure' | 'onEvent'> & { registrar: Registrar };

export class AgentSessions implements SessionCommands, SessionRegistry {
  readonly refusals = new RefusalCounters();
  readonly #deps: SessionsDeps;
  readonly #byId = new Map<string, RegisteredSession>();
  readonly #byClient = new Map<string, RegisteredSession>();
  readonly #stop: (() => void)[];
  /** What is still being told to the control plane. */
  readonly #pending = new Set<Promise<void>>();
  #isOver = false;

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
    this.#stop = [
      deps.registrar.onGrantChange((credentialId) => void this.#review(credentialId).catch(deps.onFailure)),
      deps.registrar.onSessionReplaced((id) =>
        this.#byId.get(id)?.close(ErrorCode.CANCELLED, 'the agent is elsewhere'),
      ),
    ];
  }

  get size(): number {
    return this.#byId.size;
  }

  /** The last sign of life of a session; undefined when it is not here, or has given none yet. */
  roundTrip(sessionId: string): RoundTrip | undefined {
    return this.#byId.get(sessionId)?.roundTrip;
  }

  add(session: RegisteredSession, { sessionId, accountId, clientId, credentialId }: AdmittedSession): void {
    this.#byId.set(sessionId, session);
    this.#byClient.set(`${accountId} ${clientId}`, session);
    this.#deps.onEvent('agent connected', { sessionId, credentialId, accountId });
    // What changed since its authtoken was looked at was told to nobody.
    const refresh = async () => this.#apply(session, await this.#deps.registrar.grant(credentialId));
    void refresh().catch(this.#deps.onFailure);
  }

  evict(accountId: string, clientId: string): void {
    this.#byClient.get(`${accountId} ${clientId}`)?.close(ErrorCode.CANCELLED, 'replaced by a new session');
  }

  remove(session: RegisteredSession, { sessionId, accountId, clientId }: AdmittedSession, end: SessionEnd): void {
    this.#byId.delete(sessionId);
    if (this.#byClient.get(`${accountId} ${clientId}`) === session) this.#byClient.delete(`${accountId} ${clientId}`);
    this.#deps.onEvent('agent disconnected', { sessionId, accountId, reason: end.reason });
    const closed = this.#reportClosed(sessionId, end).finally(() => this.#pending.delete(closed));
    this.#pending.add(closed);
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

  /** Ends every session for good; agents are expected back when the gateway is. */
  async close(): Promise<void> {
    for (const stop of this.#stop) stop();
    for (const session of [...this.#byId.values()]) session.close(ErrorCode.NONE, 'the gateway is stopping');
    this.#isOver = true;
    await Promise.all(this.#pending);
  }

  async #reportClosed(sessionId: string, { holdMs, reason, isGraceful, cause }: SessionEnd): Promise<void> {
    const error = isGraceful ? '' : truncateText(reason);
    for (;;) {
      try {
        return await this.#deps.registrar.sessionClosed(sessionId, holdMs, error, cause);
      } catch (error) {
        this.#deps.onFailure(error);
        if (this.#isOver) return; // The node's lease ends soon, and the row with it.
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** Looks at what sessions may still do: those of one credential, or all. */
  async #review(credentialId: string | null): Promise<void> {
    const affected = [...this.#byId.values()].filter(
      ({ accepted }) => credentialId === null || accepted?.credentialId === credentialId,
    );
    const ids = new Set(affected.map(({ accepted }) => accepted?.credentialId ?? ''));
    const grants = new Map(
      await Promise.all([...ids].map(async (id) => [id, await this.#deps.registrar.grant(id)] as const)),
    );
    for (const session of affected) this.#apply(session, grants.get(session.accepted?.credentialId ?? '') ?? null);
  }

  #apply(session: RegisteredSession, grant: Grant | null): void {
    if (grant === null) {
      session.close(ErrorCode.CANCELLED, 'the credential was revoked');
      return;
    }
    if (session.accepted) session.accepted.allowance.acl = grant.acl;
    const stop = (tunnelId: string, error: AgentError) =>
      void session.stopTunnel(tunnelId, error).catch(this.#deps.onFailure);
    for (const tunnel of session.accepted?.tunnels.addressed ?? []) {
      const target = targetOf(tunnel);
      const internal = tunnel.handling?.leadsTo?.find((domain) => !allows(grant.acl, { type: 'domain', domain }));
      if (!allows(grant.acl, target)) stop(tunnel.tunnelId, bindError(aclRefusal(target)));
      else if (internal) stop(tunnel.tunnelId, new AgentError('forwardDenied', { target: internal }));
    }
    for (const [tunnelId, labels] of session.accepted?.tunnels.labelled ?? []) {
      const denied = Object.entries(labels).find(([key, value]) => !allows(grant.acl, { type: 'label', key, value }));
      if (denied) stop(tunnelId, bindError({ refused: 'labelDenied', target: denied.join('=') }));
    }
  }
}

function targetOf({ proto, hostname, port }: LiveTunnel): BindTarget {
  return proto === 'tcp' ? { type: 'address', host: hostname, port } : { type: 'domain', domain: hostname };
}
