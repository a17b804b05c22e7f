// One agent's session: authentication, the calls of the agent, and the commands to it.

import type { TLSSocket } from 'node:tls';
import { ByteBudget } from '../../protocol/byte-budget.ts';
import { type Auth, readAuth, writeServerInfo } from '../../protocol/messages/auth.ts';
import { answerHeartbeat, type Heartbeat, startHeartbeat } from '../../protocol/messages/heartbeat.ts';
import { MessageError } from '../../protocol/messages/json-reader.ts';
import { writeStopTunnel } from '../../protocol/messages/messages.ts';
import { answerCall, openTypedStream, readStreamType, StreamType } from '../../protocol/messages/typed-stream.ts';
import { MuxSession } from '../../protocol/mux/mux-session.ts';
import type { MuxStream } from '../../protocol/mux/mux-stream.ts';
import type { MuxSessionOptions } from '../../protocol/mux/session-options.ts';
import { ErrorCode } from '../../protocol/mux/stream.ts';
import { STREAM_WINDOW_MAX } from '../../protocol/mux/window.ts';
import type { AdmissionSlot } from '../connections/admission-slot.ts';
import { AgentError } from '../control/agent-errors.ts';
import { agentKindOf } from '../control/compatibility.ts';
import { type AgentCommand, commandCauses } from '../control/session-commands.ts';
import { peerOf } from '../network/peer.ts';
import { type AdmissionContext, admit } from './admission.ts';
import { authResponse } from './auth-response.ts';
import { BeforeAdmission, UNAUTHENTICATED_LIMITS } from './before-admission.ts';
import { reportRefusedBind } from './refused-bind.ts';
import { sendCommand } from './send-command.ts';
import { SessionTunnels } from './session-tunnels.ts';
import type { AdmittedSession, RegisteredSession, RoundTrip, SessionDeps } from './session-types.ts';

/** The retry delay that an agent gets after an internal failure, in seconds: the database may work again by then. */
const UNAVAILABLE_RETRY_S = 2;
/** The most calls of an agent in progress, and the most bytes of their requests together. */
const CALLS_MAX = 1024;
const CALL_BYTES = 4 * 1024 * 1024;
/** The calls that wait until the agent is admitted. Others that need a session are refused until then. */
const WAITING_TYPES: readonly number[] = [StreamType.BIND, StreamType.START_TUNNEL_WITH_LABEL];
/**
 * How long an agent may be silent that is asked for a sign of life as another one wants its address; milliseconds. With the bind that
 * follows, the other one has the address within 5 s.
 */
const CHALLENGE_MS = 4000;
const MUX_OPTIONS: MuxSessionOptions = {
  role: 'server',
  peerStreamsMax: CALLS_MAX,
  unauthenticatedLimits: UNAUTHENTICATED_LIMITS,
};

/** An admitted agent and the tunnels that it serves. */
interface AcceptedSession extends AdmittedSession {
  tunnels: SessionTunnels;
}

/** The session of one agent. It ends with the connection. */
export class AgentSession implements RegisteredSession {
  readonly #deps: SessionDeps;
  readonly #mux: MuxSession;
  readonly #connection: AdmissionContext;
  readonly #slot: AdmissionSlot;
  readonly #before: BeforeAdmission;
  /** The prefix of error codes that this kind of agent expects. */
  #errorPrefix = agentKindOf({ clientType: '', userAgent: '' }).errorPrefix;
  #isAuthenticating = false;
  /** Whether the agent has opened its heartbeat stream. Only one is accepted. */
  #hasHeartbeat = false;
  /** The budget of requests in progress. After admission it is also a part of the account's budget. */
  #callBytes = new ByteBudget(CALL_BYTES);
  #accepted: AcceptedSession | undefined;
  #roundTrip: RoundTrip | undefined;
  #heartbeat: Heartbeat | undefined;
  /** The last command, unless the agent refused it. */
  #lastCommand: AgentCommand['kind'] | undefined;

  /** @param socket the connection after its TLS handshake. @param slot the admission slot of the connection. */
  constructor(socket: TLSSocket, deps: SessionDeps, slot: AdmissionSlot) {
    this.#deps = deps;
    this.#slot = slot;
    const { ip = '', local } = peerOf(socket) ?? {};
    const ingress = { serverIp: local?.ip ?? '', hostname: socket.servername || '' };
    this.#connection = { ip, ingress, isOpen: () => !this.#mux.isClosed, onRefused: () => slot.end('closed') };
    const onStream = (stream: MuxStream) => readStreamType(stream, (type, rest) => this.#onStream(stream, type, rest));
    const onClose = (code: ErrorCode, message: string) => this.#onClose(code, message);
    this.#mux = new MuxSession(socket, { onStream, onClose }, MUX_OPTIONS);
    this.#before = new BeforeAdmission(() => this.#onLate());
  }

  /** The admitted agent; undefined before admission. */
  get accepted(): Readonly<AcceptedSession> | undefined {
    return this.#accepted;
  }

  get roundTrip(): RoundTrip | undefined {
    return this.#roundTrip;
  }

  /** Closes the session. @param code with NONE, its addresses are released at once. */
  close(code: ErrorCode, message: string): void {
    this.#mux.close(code, message);
  }

  async isAlive(): Promise<boolean> {
    const ms = Math.min(CHALLENGE_MS, this.#deps.settings.heartbeatTolerance);
    if (await this.#heartbeat?.isAnswered(ms)) return true;
    this.#mux.destroy(ErrorCode.PEER_EOF, `no sign of life for ${ms} ms, as another agent asked for its address`);
    return false;
  }

  /** Stops one tunnel and sends the agent the reason. A new bind of the agent is refused for the same reason. */
  async stopTunnel(id: string, error: AgentError): Promise<void> {
    if (this.#mux.isClosed) return;
    const message = writeStopTunnel({ id, message: error.message, errorCode: `${this.#errorPrefix}${error.number}` });
    openTypedStream(this.#mux, StreamType.STOP_TUNNEL, Buffer.from(JSON.stringify(message))).end();
    await this.#accepted?.tunnels.stop(id, error.message);
  }

  /**
   * Sends a command. @returns null when the agent accepts it, otherwise its reason.
   * @throws {MessageError} when it does not answer.
   */
  async command(command: AgentCommand): Promise<string | null> {
    // Before the answer: what closes the session may arrive together with it.
    this.#lastCommand = command.kind;
    const reason = await sendCommand(this.#mux, this.#requireAccepted().auth, command);
    if (reason !== null) this.#lastCommand = undefined;
    return reason;
  }

  #onStream(stream: MuxStream, type: number, rest: Buffer): void {
    if (type === StreamType.HEARTBEAT && !this.#hasHeartbeat) return void this.#acceptHeartbeat(stream, rest);
    if (!this.#accepted && WAITING_TYPES.includes(type)) return void this.#before.hold(stream, type, rest);
    const handle = this.#calls[type];
    // An unknown type, which a newer agent may use, is refused without ending the session.
    if (!handle) return void stream.reset(ErrorCode.REFUSED);
    const handleSafely = (request: object) => handle(request).catch((error) => this.#describeError(error));
    const explain = (reason: string) =>
      this.#countRefusal(new AgentError('malformed', { reason })).describe(this.#errorPrefix);
    answerCall(stream, rest, handleSafely, explain, this.#callBytes);
  }

  #acceptHeartbeat(stream: MuxStream, rest: Buffer): void {
    this.#hasHeartbeat = true;
    stream.onClosed = () => {
      this.#hasHeartbeat = false;
    };
    answerHeartbeat(stream, rest);
  }

  readonly #calls: Record<number, (request: object) => Promise<object>> = {
    [StreamType.AUTH]: (request) => this.#slot.during(this.#authenticate(request)),
    [StreamType.SERVER_INFO]: async () =>
      writeServerInfo({ region: this.#deps.settings.region, node: this.#deps.registrar.nodeId, takesMoves: true }),
    [StreamType.BIND]: (request) => this.#firstBind(request, ({ tunnels }) => tunnels.bind(request)),
    [StreamType.UNBIND]: async (request) => this.#requireAccepted().tunnels.unbind(request, this.#cause),
    [StreamType.START_TUNNEL_WITH_LABEL]: (request) =>
      this.#firstBind(request, ({ tunnels }) => tunnels.bindLabels(request)),
    [StreamType.PATCH_TUNNEL]: async (request) => this.#requireAccepted().tunnels.patch(request),
  };

  /** The response to a failed call. Of an unexpected error the agent only gets the code of an internal failure. */
  #describeError(error: unknown): object {
    if (error instanceof AgentError) return this.#countRefusal(error).answer(this.#errorPrefix);
    if (error instanceof MessageError)
      return this.#countRefusal(new AgentError('malformed', { reason: error.message })).answer(this.#errorPrefix);
    this.#deps.onFailure(error);
    const unavailable = new AgentError('unavailable', {}, { retryAfter: UNAVAILABLE_RETRY_S });
    return this.#countRefusal(unavailable).answer(this.#errorPrefix);
  }

  /** Counts a refusal in the metrics. */
  #countRefusal(error: AgentError): AgentError {
    this.#deps.sessions.refusals.add(error.reason);
    return error;
  }

  /** Answers a bind. The agent needs its admission slot until the response of its first bind. */
  async #firstBind(request: object, bind: (session: AcceptedSession) => Promise<object>): Promise<object> {
    try {
      const accepted = this.#requireAccepted();
      const answer = this.#slot.during(bind(accepted));
      answer.catch((error) => reportRefusedBind(this.#deps.registrar, accepted, request, error));
      return await answer;
    } finally {
      this.#slot.end('used');
    }
  }

  #onLate(): void {
    this.#deps.sessions.refusals.add('authenticationTimeout');
    this.#before.refuse(undefined, this.#errorPrefix);
    this.#mux.close(ErrorCode.CANCELLED, 'authentication timed out');
  }

  async #authenticate(request: object): Promise<object> {
    const auth = readAuth(request);
    if (this.#isAuthenticating || this.#accepted) throw new MessageError('a session is authenticated once');
    this.#isAuthenticating = true;
    const kind = agentKindOf(auth);
    this.#errorPrefix = kind.errorPrefix;
    this.#before.pauseDeadline();
    const admitted = await admit(auth, this.#connection, this.#deps)
      .catch((error) => {
        this.#before.refuse(error, this.#errorPrefix);
        if (!this.#mux.isClosed) this.#before.resumeDeadline();
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
    this.#heartbeat = startHeartbeat(this.#mux, {
      interval: settings.heartbeatInterval,
      tolerance: settings.heartbeatTolerance,
      onBeat: (milliseconds) => {
        this.#roundTrip = { at: this.#deps.time(), milliseconds };
      },
    });
    this.#before.release((stream, type, rest) => this.#onStream(stream, type, rest));
    return authResponse(this.#deps, admitted, this.#connection.ingress, this.#negotiateWindow(auth));
  }

  /** Sets the largest stream window. @returns it; 0 when the agent does not support larger windows. */
  #negotiateWindow({ streamWindow }: Auth): number {
    if (streamWindow <= 0) return 0;
    this.#mux.windowBudget.max = Math.min(Math.floor(streamWindow), STREAM_WINDOW_MAX);
    return this.#mux.windowBudget.max;
  }

  #requireAccepted(): AcceptedSession {
    if (!this.#accepted) throw new MessageError('a session begins with authentication');
    return this.#accepted;
  }

  /** Why the session or a tunnel ends after a command, for people. */
  get #cause(): string | undefined {
    return this.#lastCommand && commandCauses[this.#lastCommand];
  }

  #onClose(code: ErrorCode, message: string): void {
    this.#before.end();
    if (!this.#accepted) return;
    this.#accepted.quota.release();
    // An agent that closes its session wants no address held for it; one that loses its connection will return.
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
