// One session with the gateway: authentication, signs of life both ways, calls, and what the gateway opens.

import { arch, platform } from 'node:os';
import type { TLSSocket } from 'node:tls';
import {
  type BindAnswer,
  call,
  ErrorCode,
  Fields,
  type LabelBind,
  limited,
  MessageError,
  MuxSession,
  type MuxStream,
  readAuthAnswer,
  readBindAnswer,
  readType,
  STREAM_WINDOW_MAX,
  StreamType,
  startHeartbeat,
  writeAuth,
  writeBind,
  writeLabelBind,
} from '@gateway/protocol';
import type { ClientOptions, SessionIdentity } from '../gateway-client.ts';
import { version } from '../version.ts';
import { type IncomingParts, takeStream } from './incoming.ts';
import { readRefusal } from './refusal.ts';
import type { Timing } from './timing.ts';

/** More than the gateway opens: visitors, and a few streams of its own. */
const PEER_STREAMS_MAX = 10_000;
/** Binds and unbinds under way: an agent with a thousand tunnels must not come back as a thousand calls at once. */
const CALLS_MAX = 16;

export interface SessionParts extends IncomingParts {
  options: Pick<ClientOptions, 'authtoken' | 'metadata' | 'commands' | 'log'>;
  timing: Timing;
}

/** How a session ended. */
export interface Ending {
  /** NONE where a side said good-bye. */
  code: ErrorCode;
  message: string;
  /** Whether it was given up as no sign of life came. */
  wasSilent: boolean;
}

export class Session {
  /** Resolves when the session is over. */
  readonly ended: Promise<Ending>;
  /** The round trip of the last heartbeat in milliseconds; null before the first. */
  latencyMs: number | null = null;

  readonly #parts: SessionParts;
  readonly #mux: MuxSession;
  readonly #closed: Promise<void>;
  readonly #socket: TLSSocket;
  readonly #inTurn = limited(CALLS_MAX);
  #lastBeat: number;

  /** @param socket connected, and handed over. */
  constructor(socket: TLSSocket, parts: SessionParts) {
    const { now, heartbeatTolerance } = parts.timing;
    this.#parts = parts;
    this.#socket = socket;
    this.#lastBeat = now();
    this.#closed = new Promise((resolve) => socket.once('close', () => resolve()));
    let onClose: (code: ErrorCode, message: string) => void = () => {};
    this.ended = new Promise((resolve) => {
      onClose = (code, message) =>
        resolve({ code, message, wasSilent: now() - this.#lastBeat > 0.9 * heartbeatTolerance });
    });
    const onStream = (stream: MuxStream) => readType(stream, (type, rest) => takeStream(stream, type, rest, parts));
    const onDefect = (error: unknown) =>
      parts.options.log('error', 'the session met the unexpected', {
        error: error instanceof Error ? String(error.stack) : String(error),
      });
    this.#mux = new MuxSession(
      socket,
      { onStream, onClose, onDefect },
      { role: 'client', peerStreamsMax: PEER_STREAMS_MAX, now },
    );
  }

  get isOver(): boolean {
    return this.#mux.isClosed;
  }

  /**
   * Says who we are, and watches over the session from then on.
   * @param identity takes over the session that had it.
   * @returns what this session is known by.
   * @throws {Refusal} when the gateway does not want us; {Error} when there is no answer that can be understood.
   */
  async authenticate(identity: SessionIdentity | null): Promise<SessionIdentity> {
    const { options, timing } = this.#parts;
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
    const admitted = readAuthAnswer(await call(this.#mux, StreamType.AUTH, request, timing.auth));
    if (admitted.error !== '') throw readRefusal(admitted);
    const { clientId, cookie, streamWindow } = admitted;
    if (clientId === '') throw new MessageError('the gateway gave the session no id');
    if (streamWindow > 0) this.#mux.budget.max = Math.min(streamWindow, STREAM_WINDOW_MAX);
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
  bind(request: Parameters<typeof writeBind>[0]): Promise<BindAnswer> {
    return this.#inTurn(async () => {
      const bound = readBindAnswer(await this.#call(StreamType.BIND, writeBind(request)));
      if (bound.error !== '') throw readRefusal(bound);
      if (bound.id === '' || bound.url === '') throw new MessageError('the gateway gave the tunnel no id or no URL');
      return bound;
    });
  }

  /** @returns the tunnel's id. @throws {Refusal} or {Error}, as above. */
  bindLabels(request: LabelBind): Promise<string> {
    return this.#inTurn(async () => {
      const bound = readBindAnswer(await this.#call(StreamType.START_TUNNEL_WITH_LABEL, writeLabelBind(request)));
      if (bound.error !== '') throw readRefusal(bound);
      if (bound.id === '') throw new MessageError('the gateway gave the tunnel no id');
      return bound.id;
    });
  }

  /** @throws {Refusal} when there is no such tunnel; {Error} as above. */
  unbind(tunnelId: string): Promise<void> {
    return this.#inTurn(async () => {
      const fields = new Fields(await this.#call(StreamType.UNBIND, { Id: tunnelId }));
      const [error, retryAfter] = [fields.text('Error'), fields.number('RetryAfter')];
      if (error !== '') throw readRefusal({ error, retryAfter });
    });
  }

  /** Gives it up: what is to be known of the other side is not known any more. */
  abandon(reason: string): void {
    this.#mux.destroy(ErrorCode.INTERNAL, reason);
  }

  /** Says good-bye. Resolves when the connection is closed. */
  async close(): Promise<void> {
    this.#mux.close(ErrorCode.NONE, 'the agent is stopping');
    const timer = setTimeout(() => this.#socket.destroy(), this.#parts.timing.farewell);
    await this.#closed;
    clearTimeout(timer);
  }

  async #call(type: number, request: object): Promise<object> {
    return call(this.#mux, type, request, this.#parts.timing.bind);
  }
}
