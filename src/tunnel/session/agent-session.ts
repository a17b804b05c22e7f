// One agent's session, from its first byte to its last: who it is, what it asks, what it is told.

import type { TLSSocket } from 'node:tls';
import { ByteBudget } from '../../protocol/byte-budget.ts';
import { answerHeartbeat, startHeartbeat } from '../../protocol/messages/heartbeat.ts';
import { MessageError } from '../../protocol/messages/json-reader.ts';
import { type Auth, readAuth, writeAuthResponse, writeStopTunnel } from '../../protocol/messages/messages.ts';
import { answer, callPeer, openTypedStream, readStreamType, StreamType } from '../../protocol/messages/typed-stream.ts';
import { MuxSession } from '../../protocol/mux/mux-session.ts';
import type { MuxStream } from '../../protocol/mux/mux-stream.ts';
import type { MuxSessionOptions } from '../../protocol/mux/session-options.ts';
import { ErrorCode } from '../../protocol/mux/stream.ts';
import { STREAM_WINDOW_MAX } from '../../protocol/mux/window.ts';
import type { AdmissionSlot } from '../connections/admission-slot.ts';
import { AgentError } from '../control/agent-errors.ts';
import { agentKindOf } from '../control/compatibility.ts';
import { commandCauses, type SessionCommand } from '../control/session-commands.ts';
import { peerOf } from '../network/peer.ts';
import { type AdmissionContext, admit } from './admission.ts';
import { SessionTunnels } from './session-tunnels.ts';
import type { AdmittedSession, RegisteredSession, RoundTrip, SessionDeps } from './session-types.ts';

/** How long an agent may take from connecting to being accepted, and to answer a command; milliseconds. */
const AUTH_TIMEOUT_MS = 10_000;
const COMMAND_TIMEOUT_MS = 10_000;
/** When to ask again for what failed here: the database may be back by then. Seconds. */
const UNAVAILABLE_RETRY_S = 2;
/** Calls that an agent may have under way, and the bytes that they may have together. */
const CALLS_MAX = 1024;
const CALL_BYTES = 4 * 1024 * 1024;
/** Before it is accepted: one call at a time, beside the heartbeats that SDKs begin with, and what an `Auth` may need. */
const unauthenticatedLimits = { bytes: 16 * 1024, streams: 2 };
const MUX_OPTIONS: MuxSessionOptions = { role: 'server', peerStreamsMax: CALLS_MAX, unauthenticatedLimits };
/** The version of the gateway that agents are told. */
export const GATEWAY_VERSION = '0.1.0';

/** An agent that was let in, and what it serves. */
interface Accepted extends AdmittedSession {
  tunnels: SessionTunnels;
}

export class AgentSession implements RegisteredSession {
  readonly #deps: SessionDeps;
  readonly #mux: MuxSession;
  readonly #connection: AdmissionContext;
  readonly #slot: AdmissionSlot;
  #deadline: NodeJS.Timeout;
  /** What codes of errors begin with, as the agent knows them. */
  #errorPrefix = agentKindOf({ clientType: '', userAgent: '' }).errorPrefix;
  #isAuthenticating = false;
  /** Whether the agent asks for signs of life: one stream is enough for that. */
  #isBeating = false;
  /** A part of what its account may have, from when on that is known. */
  #callBytes = new ByteBudget(CALL_BYTES);
  #accepted: Accepted | undefined;
  #roundTrip: RoundTrip | undefined;
  /** What it was told to do, and has agreed to. */
  #lastCommand: SessionCommand['kind'] | undefined;

  /** @param slot of the connection, whose handshake is over. */
  constructor(socket: TLSSocket, deps: SessionDeps, slot: AdmissionSlot) {
    this.#deps = deps;
    this.#slot = slot;
    const { ip = '', local } = peerOf(socket) ?? {};
    const ingress = { serverIp: local?.ip ?? '', hostname: socket.servername || '' };
    this.#connection = { ip, ingress, isOpen: () => !this.#mux.isClosed, onRefused: () => slot.end('closed') };
    const onStream = (stream: MuxStream) => readStreamType(stream, (type, rest) => this.#onStream(stream, type, rest));
    const onClose = (code: ErrorCode, message: string) => this.#onClose(code, message);
    this.#mux = new MuxSession(socket, { onStream, onClose }, MUX_OPTIONS);
    this.#deadline = this.#awaitAuthentication();
  }

  /** Undefined until the agent was let in. */
  get accepted(): Readonly<Accepted> | undefined {
    return this.#accepted;
  }

  get roundTrip(): RoundTrip | undefined {
    return this.#roundTrip;
  }

  /** Ends the session. @param code NONE frees its addresses at once. */
  close(code: ErrorCode, message: string): void {
    this.#mux.close(code, message);
  }

  /** Stops one tunnel, and tells the agent why. Should it bind again, it is refused for the same reason. */
  async stopTunnel(id: string, error: AgentError): Promise<void> {
    if (this.#mux.isClosed) return;
    const message = writeStopTunnel({ id, message: error.message, errorCode: `${this.#errorPrefix}${error.number}` });
    openTypedStream(this.#mux, StreamType.STOP_TUNNEL, Buffer.from(JSON.stringify(message))).end();
    await this.#accepted?.tunnels.stop(id, error.message);
  }

  /** @returns null when the agent does it, or its reason why not. @throws {MessageError} when it does not answer. */
  async command(command: SessionCommand): Promise<string | null> {
    const { auth } = this.#mustBeAccepted();
    const unsupported = {
      stop: auth.stopUnsupported,
      restart: auth.restartUnsupported,
      update: auth.updateUnsupported,
    }[command.kind];
    if (unsupported === null) return 'the agent is too old to be told from afar';
    if (unsupported !== '') return unsupported;
    const request =
      command.kind === 'update' ? { Version: command.version, PermitMajorVersion: command.permitMajorVersion } : {};
    const reply = (await callPeer(this.#mux, COMMAND_TYPES[command.kind], request, COMMAND_TIMEOUT_MS)) as {
      Error?: unknown;
    };
    if (reply.Error) return String(reply.Error);
    this.#lastCommand = command.kind;
    return null;
  }

  #onStream(stream: MuxStream, type: number, rest: Buffer): void {
    if (type === StreamType.HEARTBEAT && !this.#isBeating) return void this.#beat(stream, rest);
    const handle = this.#calls[type];
    // What a newer agent may ask for is refused, and does not end its session.
    if (!handle) return void stream.reset(ErrorCode.REFUSED);
    const explained = (request: object) => handle(request).catch((error) => this.#explain(error));
    const explain = (reason: string) =>
      this.#countRefusal(new AgentError('malformed', { reason })).describe(this.#errorPrefix);
    answer(stream, rest, explained, explain, this.#callBytes);
  }

  #beat(stream: MuxStream, rest: Buffer): void {
    this.#isBeating = true;
    stream.onClosed = () => {
      this.#isBeating = false;
    };
    answerHeartbeat(stream, rest);
  }

  readonly #calls: Record<number, (request: object) => Promise<object>> = {
    [StreamType.AUTH]: (request) => this.#slot.during(this.#authenticate(request)),
    [StreamType.SERVER_INFO]: async () => ({ Region: this.#deps.settings.region }),
    [StreamType.BIND]: (request) => this.#firstBind(async () => this.#mustBeAccepted().tunnels.bind(request)),
    [StreamType.UNBIND]: async (request) => this.#mustBeAccepted().tunnels.unbind(request, this.#cause),
    [StreamType.START_TUNNEL_WITH_LABEL]: (request) =>
      this.#firstBind(async () => this.#mustBeAccepted().tunnels.bindLabels(request)),
    [StreamType.PATCH_TUNNEL]: async (request) => this.#mustBeAccepted().tunnels.patch(request),
  };

  /** What was refused on purpose is an answer; of anything else the agent learns no more than that it happened. */
  #explain(error: unknown): object {
    if (error instanceof AgentError) return this.#countRefusal(error).answer(this.#errorPrefix);
    if (error instanceof MessageError)
      return this.#countRefusal(new AgentError('malformed', { reason: error.message })).answer(this.#errorPrefix);
    this.#deps.onFailure(error);
    const unavailable = new AgentError('unavailable', {}, { retryAfter: UNAVAILABLE_RETRY_S });
    return this.#countRefusal(unavailable).answer(this.#errorPrefix);
  }

  /** Counts a refusal, which the agent is told. */
  #countRefusal(error: AgentError): AgentError {
    this.#deps.sessions.refusals.add(error.reason);
    return error;
  }

  /** That is what the agent came for: its turn is over with the answer. */
  async #firstBind(bind: () => Promise<object>): Promise<object> {
    try {
      return await this.#slot.during(bind());
    } finally {
      this.#slot.end('used');
    }
  }

  #awaitAuthentication(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#deps.sessions.refusals.add('authenticationTimeout');
      this.#mux.close(ErrorCode.CANCELLED, 'no authentication in time');
    }, AUTH_TIMEOUT_MS);
  }

  async #authenticate(request: object): Promise<object> {
    const auth = readAuth(request);
    if (this.#isAuthenticating || this.#accepted) throw new MessageError('a session is authenticated once');
    this.#isAuthenticating = true;
    const kind = agentKindOf(auth);
    this.#errorPrefix = kind.errorPrefix;
    clearTimeout(this.#deadline); // Until there is an answer, it is the agent that waits.
    const admitted = await admit(auth, this.#connection, this.#deps)
      .catch((error) => {
        if (!this.#mux.isClosed) this.#deadline = this.#awaitAuthentication();
        throw error;
      })
      .finally(() => {
        this.#isAuthenticating = false;
      });
    const { settings, registrar } = this.#deps;
    if (this.#mux.isClosed) {
      admitted.quota.release();
      await registrar.sessionClosed(admitted.sessionId, settings.sessionHold, 'the connection was lost');
      throw new MessageError('the session ended');
    }
    this.#mux.limits.markAuthenticated();
    this.#slot.markAdmitted();
    this.#callBytes = new ByteBudget(CALL_BYTES, admitted.quota.callBytes);
    this.#accepted = { ...admitted, tunnels: new SessionTunnels(this.#deps, this.#mux, admitted) };
    this.#mux.counteractsNagle = kind.hasNagle;
    this.#deps.sessions.add(this, admitted);
    startHeartbeat(this.#mux, {
      interval: settings.heartbeatInterval,
      tolerance: settings.heartbeatTolerance,
      onBeat: (milliseconds) => {
        this.#roundTrip = { at: this.#deps.time(), milliseconds };
      },
    });
    const { clientId, cookie } = admitted;
    const streamWindow = this.#agreeOn(auth);
    return writeAuthResponse({ clientId, cookie, region: settings.region, streamWindow }, GATEWAY_VERSION);
  }

  /** The window that streams may grow to; 0 where the agent did not say that it can. */
  #agreeOn({ streamWindow }: Auth): number {
    if (streamWindow <= 0) return 0;
    this.#mux.windowBudget.max = Math.min(Math.floor(streamWindow), STREAM_WINDOW_MAX);
    return this.#mux.windowBudget.max;
  }

  #mustBeAccepted(): Accepted {
    if (!this.#accepted) throw new MessageError('a session begins with authentication');
    return this.#accepted;
  }

  /** Why the agent leaves that was told to, for people. */
  get #cause(): string | undefined {
    return this.#lastCommand && commandCauses[this.#lastCommand];
  }

  #onClose(code: ErrorCode, message: string): void {
    clearTimeout(this.#deadline);
    if (!this.#accepted) return;
    this.#accepted.quota.release();
    // An agent that says good-bye wants nothing kept; one that is lost will be back.
    const isGraceful = code === ErrorCode.NONE && !this.#deps.isStopping();
    const holdMs = isGraceful ? 0 : this.#deps.settings.sessionHold;
    this.#accepted.tunnels.closeAll(holdMs);
    this.#deps.sessions.remove(this, this.#accepted, {
      holdMs,
      reason: message,
      isGraceful,
      cause: this.#cause,
    });
  }
}

const COMMAND_TYPES = { stop: StreamType.STOP, restart: StreamType.RESTART, update: StreamType.UPDATE };
