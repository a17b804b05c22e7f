// One session with the gateway: authentication, signs of life both ways, calls, and what the gateway opens.

import { arch, platform } from 'node:os';
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
  readStreamType,
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

/** More than the gateway opens: visitors, and a few streams of its own. */
const PEER_STREAMS_MAX = 10_000;
/** Binds and unbinds under way: an agent with a thousand tunnels must not come back as a thousand calls at once. */
const CALLS_MAX = 16;

export interface GatewaySessionDeps extends IncomingDeps {
  options: Pick<ClientOptions, 'authtoken' | 'metadata' | 'commands' | 'log'>;
  timing: ClientTiming;
}

/** How a session ended. */
export interface SessionEnding {
  /** NONE where a side said good-bye. */
  code: ErrorCode;
  message: string;
  /** Whether it was given up as no sign of life came. */
  missedHeartbeat: boolean;
}

export class GatewaySession {
  /** Resolves when the session is over. */
  readonly ended: Promise<SessionEnding>;
  /** The round trip of the last heartbeat in milliseconds; null before the first. */
  latencyMs: number | null = null;

  readonly #deps: GatewaySessionDeps;
  readonly #mux: MuxSession;
  readonly #closed: Promise<void>;
  readonly #socket: TLSSocket;
  readonly #inTurn = limitConcurrency(CALLS_MAX);
  #lastBeat: number;

  /** @param socket connected, and handed over. */
  constructor(socket: TLSSocket, deps: GatewaySessionDeps) {
    const { now, heartbeatTolerance } = deps.timing;
    this.#deps = deps;
    this.#socket = socket;
    this.#lastBeat = now();
    this.#closed = new Promise((resolve) => socket.once('close', () => resolve()));
    let onClose: (code: ErrorCode, message: string) => void = () => {};
    this.ended = new Promise((resolve) => {
      onClose = (code, message) =>
        resolve({ code, message, missedHeartbeat: now() - this.#lastBeat > 0.9 * heartbeatTolerance });
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

  get isClosed(): boolean {
    return this.#mux.isClosed;
  }

  /**
   * Says who we are, and watches over the session from then on.
   * @param identity takes over the session that had it.
   * @returns what this session is known by.
   * @throws {Refusal} when the gateway does not want us; {Error} when there is no answer that can be understood.
   */
  async authenticate(identity: SessionIdentity | null): Promise<SessionIdentity> {
    const { options, timing } = this.#deps;
    const interval = timing.heartbeatInterval;
    const tolerance = timing.heartbeatTolerance;
    const auth = {
      clientId: identity?.clientId ?? '',
      cookie: identity?.cookie ?? '',
      authtoken: options.authtoken,
      agentVersion: version,
      userAgent: `tunnel-gateway-agent/${version}`,
      os: platform(),
      arch: arch(),
      metadata: options.metadata,
      stopUnsupported: '',
      restartUnsupported: '',
      updateUnsupported: '',
      streamWindow: STREAM_WINDOW_MAX,
    };
    const request = writeAuth(auth, { interval, tolerance });
    const admitted = readAuthResponse(await callPeer(this.#mux, StreamType.AUTH, request, timing.auth));
    if (admitted.error !== '') throw parseRefusal(admitted);
    const { clientId, cookie, streamWindow } = admitted;
    if (clientId === '') throw new MessageError('the gateway gave the session no id');
    if (streamWindow > 0) this.#mux.windowBudget.max = Math.min(streamWindow, STREAM_WINDOW_MAX);
    this.#lastBeat = timing.now();
    startHeartbeat(this.#mux, {
      interval,
      tolerance,
      onBeat: (roundTrip) => {
        this.#lastBeat = timing.now();
        this.latencyMs = roundTrip;
      },
    });
    return { clientId, cookie };
  }

  /** @throws {Refusal} or {Error}, as above. */
  bind(request: Parameters<typeof writeBind>[0]): Promise<BindResponse> {
    return this.#inTurn(async () => {
      const bound = readBindResponse(await this.#call(StreamType.BIND, writeBind(request)));
      if (bound.error !== '') throw parseRefusal(bound);
      if (bound.id === '' || bound.url === '') throw new MessageError('the gateway gave the tunnel no id or no URL');
      return bound;
    });
  }

  /** @returns the tunnel's id. @throws {Refusal} or {Error}, as above. */
  bindLabels(request: LabelBind): Promise<string> {
    return this.#inTurn(async () => {
      const bound = readBindResponse(await this.#call(StreamType.START_TUNNEL_WITH_LABEL, writeLabelBind(request)));
      if (bound.error !== '') throw parseRefusal(bound);
      if (bound.id === '') throw new MessageError('the gateway gave the tunnel no id');
      return bound.id;
    });
  }

  /** @throws {Refusal} when there is no such tunnel; {Error} as above. */
  unbind(tunnelId: string): Promise<void> {
    return this.#inTurn(async () => {
      const fields = new Fields(await this.#call(StreamType.UNBIND, { Id: tunnelId }));
      const [error, retryAfter] = [fields.text('Error'), fields.number('RetryAfter')];
      if (error !== '') throw parseRefusal({ error, retryAfter });
    });
  }

  /** Gives it up: what is to be known of the other side is not known any more. */
  destroy(reason: string): void {
    this.#mux.destroy(ErrorCode.INTERNAL, reason);
  }

  /** Says good-bye. Resolves when the connection is closed. */
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
