// One session with the gateway: authentication, heartbeats in both directions, calls, and incoming streams.

import { arch, hostname, platform } from 'node:os';
import type { TLSSocket } from 'node:tls';
import {
  type BindResponse,
  callPeer,
  ErrorCode,
  Fields,
  type LabelBind,
  limitConcurrency,
  MessageError,
  MuxSession,
  type MuxStream,
  readAuthResponse,
  readBindResponse,
  readServerInfo,
  readStreamType,
  type ServerInfo,
  STREAM_WINDOW_MAX,
  StreamType,
  startHeartbeat,
  writeAuth,
  writeBind,
  writeLabelBind,
} from '@gateway/protocol';
import type { ClientOptions, SessionIdentity } from '../gateway-client.ts';
import { version } from '../version.ts';
import { parseRefusal } from './gateway-refusal.ts';
import { handleIncomingStream, type IncomingDeps } from './incoming-streams.ts';
import type { ClientTiming } from './timing.ts';

/** The most streams of the gateway: one for each visitor, and a few commands. */
const PEER_STREAMS_MAX = 10_000;
/**
 * The most concurrent binds and unbinds: an agent with a thousand tunnels must not reconnect with a thousand calls at
 * once.
 */
const CALLS_MAX = 16;

/** The dependencies of a session. */
export interface GatewaySessionDeps extends IncomingDeps {
  options: Pick<ClientOptions, 'metadata' | 'self' | 'commands' | 'log'>;
  timing: ClientTiming;
  /** The time between two heartbeats, and in which one must be answered; milliseconds. */
  heartbeat: { interval: number; tolerance: number };
}

/** A session that the gateway has accepted. */
export interface AcceptedSession {
  identity: SessionIdentity;
  /** The id of the gateway's node; empty when it does not say: then an agent can have only one session. */
  node: string;
}

/** The end of a session. */
export interface SessionEnding {
  /** NONE when a side closed the session on purpose. */
  code: ErrorCode;
  message: string;
  /** Whether it ended because heartbeats were not answered. */
  missedHeartbeat: boolean;
}

/** A session with the gateway, from the connection to its end. */
export class GatewaySession {
  /** Resolves when the session has ended. It never rejects. */
  readonly ended: Promise<SessionEnding>;
  /** The round trip of the last heartbeat in milliseconds; null before the first. */
  latencyMs: number | null = null;

  readonly #deps: GatewaySessionDeps;
  readonly #mux: MuxSession;
  readonly #closed: Promise<void>;
  readonly #socket: TLSSocket;
  readonly #limitCalls = limitConcurrency(CALLS_MAX);

  /** @param socket a connected socket. From now on only the session uses it. */
  constructor(socket: TLSSocket, deps: GatewaySessionDeps) {
    const { now } = deps.timing;
    this.#deps = deps;
    this.#socket = socket;
    this.#closed = new Promise((resolve) => socket.once('close', () => resolve()));
    let onClose: (code: ErrorCode, message: string) => void = () => {};
    this.ended = new Promise((resolve) => {
      onClose = (code, message) =>
        resolve({ code, message, missedHeartbeat: now() - this.#mux.lastReadAt > 0.9 * deps.heartbeat.tolerance });
    });
    const onStream = (stream: MuxStream) =>
      readStreamType(stream, (type, rest) => handleIncomingStream(stream, type, rest, deps));
    const onDefect = (error: unknown) =>
      deps.options.log('error', 'unexpected error in the session', {
        error: error instanceof Error ? String(error.stack) : String(error),
      });
    this.#mux = new MuxSession(
      socket,
      { onStream, onClose, onDefect },
      { role: 'client', peerStreamsMax: PEER_STREAMS_MAX, now },
    );
  }

  /** The time between two heartbeats, and in which one must be answered; milliseconds. */
  get heartbeat(): GatewaySessionDeps['heartbeat'] {
    return this.#deps.heartbeat;
  }

  get isClosed(): boolean {
    return this.#mux.isClosed;
  }

  /** Asks which node this is, before the authentication. */
  async serverInfo(): Promise<ServerInfo> {
    return readServerInfo(await callPeer(this.#mux, StreamType.SERVER_INFO, {}, this.#deps.timing.auth));
  }

  /**
   * Authenticates and starts heartbeats.
   * @param authtoken that of a credential.
   * @param identity the identity of the session to take over, or to stand beside; null for a new one.
   * @param legNumber the number of the session among those of the agent. It takes over the one with the same number.
   * @param moves whether that one stays, until the gateway ends it.
   * @throws {GatewayRefusal} when the gateway refuses the agent. @throws {Error} when there is no valid response.
   */
  async authenticate(
    authtoken: string,
    identity: SessionIdentity | null,
    legNumber: number,
    moves: boolean,
  ): Promise<AcceptedSession> {
    const { options, timing, heartbeat } = this.#deps;
    const { unsupported = {} } = options.commands;
    const auth = {
      clientId: identity?.clientId ?? '',
      cookie: identity?.cookie ?? '',
      authtoken,
      agentVersion: version,
      userAgent: `tunnel-gateway-agent/${version}`,
      os: platform(),
      arch: arch(),
      hostName: hostname(),
      ...options.self,
      metadata: options.metadata,
      stopUnsupported: unsupported.stop ?? '',
      restartUnsupported: unsupported.restart ?? '',
      updateUnsupported: unsupported.update ?? '',
      moveUnsupported: '',
      streamWindow: STREAM_WINDOW_MAX,
      legNumber,
      moves,
    };
    const request = writeAuth(auth, heartbeat);
    const admitted = readAuthResponse(await callPeer(this.#mux, StreamType.AUTH, request, timing.auth));
    if (admitted.error !== '') throw parseRefusal(admitted);
    const { clientId, cookie, streamWindow, node } = admitted;
    if (clientId === '') throw new MessageError('the gateway gave the session no id');
    if (streamWindow > 0) this.#mux.windowBudget.max = Math.min(streamWindow, STREAM_WINDOW_MAX);
    startHeartbeat(this.#mux, {
      ...heartbeat,
      onBeat: (roundTrip) => {
        this.latencyMs = roundTrip;
      },
    });
    return { identity: { clientId, cookie }, node };
  }

  /** Binds a tunnel. @throws {GatewayRefusal} @throws {Error} as `authenticate` does. */
  bind(request: Parameters<typeof writeBind>[0]): Promise<BindResponse> {
    return this.#limitCalls(async () => {
      const bound = readBindResponse(await this.#call(StreamType.BIND, writeBind(request)));
      if (bound.error !== '') throw parseRefusal(bound);
      if (bound.id === '' || bound.url === '') throw new MessageError('the gateway gave the tunnel no id or no URL');
      return bound;
    });
  }

  /** Binds a tunnel with labels. The response has no URL. @throws {GatewayRefusal} @throws {Error} as `authenticate` does. */
  bindLabels(request: LabelBind): Promise<BindResponse> {
    return this.#limitCalls(async () => {
      const bound = readBindResponse(await this.#call(StreamType.START_TUNNEL_WITH_LABEL, writeLabelBind(request)));
      if (bound.error !== '') throw parseRefusal(bound);
      if (bound.id === '') throw new MessageError('the gateway gave the tunnel no id');
      return bound;
    });
  }

  /** Unbinds a tunnel. @throws {GatewayRefusal} when there is no such tunnel. @throws {Error} as `authenticate` does. */
  unbind(tunnelId: string): Promise<void> {
    return this.#limitCalls(async () => {
      const fields = new Fields(await this.#call(StreamType.UNBIND, { Id: tunnelId }));
      const [error, retryAfter] = [fields.text('Error'), fields.number('RetryAfter')];
      if (error !== '') throw parseRefusal({ error, retryAfter });
    });
  }

  /** Ends the session at once, when the state of the gateway is unknown. @param reason for the log. */
  destroy(reason: string): void {
    this.#mux.destroy(ErrorCode.INTERNAL, reason);
  }

  /** Closes the session with a GOAWAY frame. Resolves when the connection is closed. */
  async close(): Promise<void> {
    this.#mux.close(ErrorCode.NONE, 'the agent is stopping');
    const timer = setTimeout(() => this.#socket.destroy(), this.#deps.timing.goAway);
    await this.#closed;
    clearTimeout(timer);
  }

  async #call(type: number, request: object): Promise<object> {
    return callPeer(this.#mux, type, request, this.#deps.timing.bind);
  }
}
