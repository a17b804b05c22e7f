// The binds of a tunnel, one in each session.

import type { GatewaySession } from './gateway-session.ts';

/** What a tunnel knows of its bind in one session. It ends with the session. */
export class TunnelBind {
  readonly session: GatewaySession;
  /** The id under which the session serves the tunnel; undefined while it does not. */
  tunnelId: string | undefined;
  /** Resolves when the last request is done. */
  pending: Promise<void> = Promise.resolve();
  /** The numbers of consecutive refusals and consecutive failures. */
  refusals = 0;
  failures = 0;
  /** Set after a request without a response: the gateway may serve the tunnel under an id that we do not know. */
  mayBeOrphaned = false;
  #retryTimer: NodeJS.Timeout | undefined;

  constructor(session: GatewaySession) {
    this.session = session;
  }

  get isBound(): boolean {
    return this.tunnelId !== undefined;
  }

  /** Unbinds the tunnel. When the gateway does not do it, the tunnel's visitors are still refused here. */
  async unbind(): Promise<void> {
    if (this.tunnelId !== undefined) await this.session.unbind(this.tunnelId).catch(() => {});
  }

  /** Calls `retry` after a delay, unless the session has ended by then. */
  retryAfter(delay: number, retry: () => void): void {
    this.cancelRetry();
    this.#retryTimer = setTimeout(() => {
      if (!this.session.isClosed) retry();
    }, delay);
  }

  cancelRetry(): void {
    clearTimeout(this.#retryTimer);
  }
}

/** The binds of a tunnel, by session. */
export class TunnelBinds extends Map<GatewaySession, TunnelBind> {
  /** The number of sessions that serve the tunnel. */
  get bound(): number {
    return [...this.values()].filter(({ isBound }) => isBound).length;
  }

  isBoundIn(session: GatewaySession): boolean {
    return this.get(session)?.isBound === true;
  }

  /** Resolves when the last request in a session is done. */
  async settled(session: GatewaySession): Promise<void> {
    await this.get(session)?.pending;
  }
}
