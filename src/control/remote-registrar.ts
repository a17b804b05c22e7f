// The registrar of a worker: it asks the control process.

import type { OpenedSession, Registrar } from '../tunnel/control/registrar.ts';
import type { RouteTarget } from '../tunnel/control/routes.ts';
import type { WorkerCalls, WorkerState } from './calls.ts';
import type { ControlClient } from './control-client.ts';

type Told = Pick<WorkerCalls, 'grantChanged' | 'sessionReplaced' | 'leaseRevived' | 'remotePortsChanged'>;

export class RemoteRegistrar implements Registrar {
  readonly nodeId: string;
  /** The control process remembers for all workers, and counts. */
  readonly lookups = { hits: 0, misses: 0 };
  readonly #client: () => ControlClient;
  readonly #sessions = new Map<string, OpenedSession['ingress']>();
  /** The session of each tunnel, by its id. A tunnel that several sessions serve is that of the last. */
  readonly #tunnels = new Map<string, string>();
  readonly #onGrantChange = new Set<(credentialId: string | null) => void>();
  readonly #onSessionReplaced = new Set<(sessionId: string) => void>();
  readonly #onLeaseRevived = new Set<() => void>();
  readonly #onRemotePortsChange = new Set<() => void>();

  constructor(nodeId: string, client: () => ControlClient) {
    this.nodeId = nodeId;
    this.#client = client;
  }

  /** What the control process tells. */
  readonly told: Told = {
    grantChanged: (credentialId) => this.#onGrantChange.forEach((listener) => void listener(credentialId)),
    sessionReplaced: (sessionId) => {
      if (!this.#sessions.has(sessionId)) return;
      this.#forget(sessionId);
      this.#onSessionReplaced.forEach((listener) => void listener(sessionId));
    },
    leaseRevived: () => this.#onLeaseRevived.forEach((listener) => void listener()),
    remotePortsChanged: () => this.#onRemotePortsChange.forEach((listener) => void listener()),
  };

  get state(): WorkerState {
    return { nodeId: this.nodeId, sessions: this.#sessions, tunnelIds: [...this.#tunnels.keys()] };
  }

  isOwn(sessionId: string): boolean {
    return this.#sessions.has(sessionId);
  }

  /** To be called when another control process has taken over, whose predecessor may have told less. */
  attachedAgain(wasDeleted: boolean): void {
    if (wasDeleted) for (const sessionId of [...this.#sessions.keys()]) this.told.sessionReplaced(sessionId);
    this.told.grantChanged(null);
    this.told.leaseRevived();
    this.told.remotePortsChanged();
  }

  authenticate: Registrar['authenticate'] = (authtoken) => this.#client().call('authenticate', authtoken);
  grant: Registrar['grant'] = (credentialId) => this.#client().call('grant', credentialId);
  takenTunnels: Registrar['takenTunnels'] = (tunnelIds) => this.#client().call('takenTunnels', tunnelIds);
  lookUp: Registrar['lookUp'] = (target) => this.#client().call('lookUp', target);
  lookUpLabels: Registrar['lookUpLabels'] = (...args) => this.#client().call('lookUpLabels', ...args);
  remotePorts: Registrar['remotePorts'] = () => this.#client().call('remotePorts');
  bindRefused: Registrar['bindRefused'] = (refusal) => this.#client().call('bindRefused', refusal);
  tunnelChanged: Registrar['tunnelChanged'] = (...args) => this.#client().call('tunnelChanged', ...args);

  forgetRoutes(target: RouteTarget): void {
    this.#client()
      .call('forgetRoutes', target)
      .catch(() => undefined); // Another control process remembers nothing.
  }

  async sessionOpened(session: OpenedSession): Promise<string> {
    const id = await this.#client().callOnce('sessionOpened', session);
    this.#sessions.set(id, session.ingress);
    return id;
  }

  async sessionClosed(...args: Parameters<Registrar['sessionClosed']>): Promise<void> {
    this.#forget(args[0]);
    await this.#client().call('sessionClosed', ...args);
  }

  async bind(request: Parameters<Registrar['bind']>[0]): ReturnType<Registrar['bind']> {
    return this.#bound(request.sessionId, await this.#client().callOnce('bind', request));
  }

  async bindLabels(request: Parameters<Registrar['bindLabels']>[0]): ReturnType<Registrar['bindLabels']> {
    return this.#bound(request.sessionId, await this.#client().callOnce('bindLabels', request));
  }

  async tunnelClosed(...args: Parameters<Registrar['tunnelClosed']>): Promise<void> {
    const [sessionId, tunnelId] = args;
    if (this.#tunnels.get(tunnelId) === sessionId) this.#tunnels.delete(tunnelId);
    await this.#client().call('tunnelClosed', ...args);
  }

  async leaveTunnels(sessionId: string): Promise<boolean> {
    const hasLeft = await this.#client().call('leaveTunnels', sessionId);
    if (hasLeft) this.#forgetTunnels(sessionId);
    return hasLeft;
  }

  onGrantChange(listener: (credentialId: string | null) => void): () => void {
    this.#onGrantChange.add(listener);
    return () => this.#onGrantChange.delete(listener);
  }

  onSessionReplaced(listener: (sessionId: string) => void): () => void {
    this.#onSessionReplaced.add(listener);
    return () => this.#onSessionReplaced.delete(listener);
  }

  onLeaseRevived(listener: () => void): void {
    this.#onLeaseRevived.add(listener);
  }

  onRemotePortsChange(listener: () => void): void {
    this.#onRemotePortsChange.add(listener);
  }

  #bound<T extends object>(sessionId: string, answer: T | { tunnelId: string }): T {
    if ('tunnelId' in answer) this.#tunnels.set(answer.tunnelId as string, sessionId);
    return answer as T;
  }

  #forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
    this.#forgetTunnels(sessionId);
  }

  #forgetTunnels(sessionId: string): void {
    for (const [tunnelId, owner] of this.#tunnels) if (owner === sessionId) this.#tunnels.delete(tunnelId);
  }
}
