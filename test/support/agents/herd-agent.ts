// One agent of a herd: it comes, authenticates, binds its name, and whenever something goes wrong it comes again.

import { connect, type TLSSocket } from 'node:tls';
import {
  answerCall,
  answerHeartbeat,
  callPeer,
  ErrorCode,
  MuxSession,
  readStreamType,
  StreamType,
} from '../../../src/protocol/index.ts';

/**
 * When an agent comes again. `impolite`: at once, whatever it was told. `sdk`: as SDKs of the field do, after 0, 50 ms,
 * 2.5 s, and then 125 s. `polite`: with full jitter up to 2 s, and not before the gateway said.
 */
export type Manners = 'impolite' | 'sdk' | 'polite';

/** What an agent of a real network cannot be quicker than; milliseconds. */
const ROUND_TRIP_MS = 100;
/** As our own agent has it; milliseconds. SDKs of the field have none. */
export const PATIENCE = { connect: 10_000, auth: 10_000, bind: 15_000 };

// biome-ignore lint/suspicious/noExplicitAny: what an answer has, the gateway says.
type Reply = Record<string, any>;

export interface HerdTarget {
  host: string;
  port: number;
  ca: string;
  authtoken: string;
}

export interface HerdEvents {
  onOnline(): void;
  onLost(why: string): void;
  /** An attempt came to nothing. @param retryAfter seconds that the gateway named; undefined where it named none. */
  onFailed(step: string, why: string, retryAfter: number | undefined): void;
}

export class HerdAgent {
  readonly #target: HerdTarget;
  readonly #name: string;
  readonly #manners: Manners;
  readonly #events: HerdEvents;
  readonly #patience: typeof PATIENCE;
  #isOver = false;
  #socket: TLSSocket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  /** What it was the last time. */
  #identity: { ClientId: string; Cookie: string } | undefined;
  #tunnel: { Id: string; Token: string } | undefined;

  constructor(target: HerdTarget, name: string, manners: Manners, events: HerdEvents, patience = PATIENCE) {
    this.#patience = patience;
    this.#target = target;
    this.#name = name;
    this.#manners = manners;
    this.#events = events;
  }

  /** Comes, and goes on coming until `stop`. */
  start(): void {
    void this.#attempt();
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#socket?.destroy();
  }

  async #attempt(): Promise<void> {
    let step = 'connect';
    let mux: MuxSession | undefined;
    try {
      const socket = await this.#dial();
      let isOnline = false;
      mux = this.#session(socket, (why) => {
        if (!isOnline) return; // The call that is under way fails.
        this.#events.onLost(why);
        this.#again(0);
      });
      step = 'auth';
      const admitted = await this.#call(mux, StreamType.AUTH, this.#auth(), this.#patience.auth);
      this.#identity = { ClientId: admitted.ClientId, Cookie: admitted.Extra.Cookie };
      step = 'bind';
      const bound = await this.#call(mux, StreamType.BIND, this.#bind(), this.#patience.bind);
      this.#tunnel = { Id: bound.Id, Token: bound.Extra.Token };
      if (mux.isClosed) throw new Error('the session ended');
      isOnline = true;
      this.#failures = 0;
      this.#events.onOnline();
    } catch (error) {
      mux?.destroy(ErrorCode.CANCELLED, 'given up');
      this.#socket?.destroy();
      if (this.#isOver) return;
      const { message, retryAfter } = error as Error & { retryAfter?: number };
      this.#events.onFailed(step, message, retryAfter);
      this.#again(++this.#failures, retryAfter);
    }
  }

  #again(failures: number, retryAfter = 0): void {
    if (this.#isOver) return;
    const delay = {
      impolite: () => ROUND_TRIP_MS,
      sdk: () => (failures === 0 ? ROUND_TRIP_MS : 50 ** failures),
      polite: () => retryAfter * 1000 + Math.random() * Math.min(2000, 500 * 2 ** failures),
    }[this.#manners]();
    this.#timer = setTimeout(() => void this.#attempt(), delay);
  }

  #dial(): Promise<TLSSocket> {
    const { host, port, ca } = this.#target;
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, ca });
      this.#socket = socket;
      const deadline =
        this.#manners === 'sdk'
          ? undefined
          : setTimeout(() => socket.destroy(new Error('no TLS in time')), this.#patience.connect);
      socket
        .on('error', reject)
        .once('close', () => {
          clearTimeout(deadline);
          reject(new Error('closed in the handshake'));
        })
        .once('secureConnect', () => {
          clearTimeout(deadline);
          resolve(socket);
        });
    });
  }

  #session(socket: TLSSocket, onLost: (why: string) => void): MuxSession {
    const onStream: ConstructorParameters<typeof MuxSession>[1]['onStream'] = (stream) =>
      readStreamType(stream, (type, rest) => {
        if (type === StreamType.HEARTBEAT) answerHeartbeat(stream, rest);
        else if (type === StreamType.PROXY) stream.reset(ErrorCode.REFUSED);
        else
          answerCall(
            stream,
            rest,
            async () => ({}),
            (text) => text,
          );
      });
    const onClose = (_: ErrorCode, message: string) => onLost(message);
    return new MuxSession(socket, { onStream, onClose }, { role: 'client', peerStreamsMax: 1000 });
  }

  async #call(mux: MuxSession, type: number, request: object, ms: number): Promise<Reply> {
    const reply = (await callPeer(mux, type, request, ms)) as Reply;
    if (!reply.Error) return reply;
    const [why = ''] = String(reply.Error).split('\r\n');
    throw Object.assign(new Error(why), { retryAfter: reply.RetryAfter });
  }

  #auth(): object {
    const { ClientId = '', Cookie = '' } = this.#identity ?? {};
    return { Version: ['3', '2'], ClientId, Extra: { AuthToken: this.#target.authtoken, Cookie } };
  }

  #bind(): object {
    const { Id = '', Token = '' } = this.#tunnel ?? {};
    return { Id, Proto: 'http', Opts: { Hostname: this.#name }, Extra: { Token } };
  }
}
