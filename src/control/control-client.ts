// A worker's connection to the control process. It is opened again when it is lost: the control process may be replaced while the
// worker goes on. Calls wait for that.

import { setTimeout as pause } from 'node:timers/promises';
import { CONTROL_SOCKET, type LocalSockets } from '../cluster/local-sockets.ts';
import { CallChannel, type Calls, ChannelClosed } from './call-channel.ts';
import type { Attached, ControlCalls, WorkerCalls, WorkerState } from './calls.ts';

const DIAL_TIMEOUT_MS = 1000;
const DIAL_PAUSE_MS = 50;
/** The most calls that wait while the control process is away. Further ones fail at once: a flood of unknown names is no reason to keep all. */
const WAITING_MAX = 10_000;
/**
 * How long a call waits for the control process, in milliseconds. When it was replaced on two cores at a load
 * of ten, it was away for two to four seconds: visitors wait for that, and for more, rather than be refused.
 */
const WAIT_MS = 20_000;

type Method = keyof ControlCalls;
type Arguments<M extends Method> = Parameters<ControlCalls[M]>;
type Result<M extends Method> = Awaited<ReturnType<ControlCalls[M]>>;

/** The control process is away, and did not come back within the time of a call. Nothing has reached it. */
export class ControlAway extends Error {
  constructor() {
    super('the control process does not answer');
  }
}

export interface ControlClientOptions {
  sockets: LocalSockets;
  /** What this worker is and has, each time that it connects. */
  state(): WorkerState;
  /** The functions that the control process may call. */
  own: WorkerCalls;
  /** Called when it is connected again, before calls go on. */
  onAttachedAgain(attached: Attached): void;
  /** Called when the control process refuses this worker, or is lost. */
  onFailure(error: unknown): void;
}

export class ControlClient {
  readonly #options: ControlClientOptions;
  #channel: CallChannel<ControlCalls> | undefined;
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

  constructor(options: ControlClientOptions) {
    this.#options = options;
  }

  /** Connects for the first time, and keeps the connection from then on. It waits for as long as there is no control process. */
  async open(): Promise<Attached> {
    const attached = await this.#connect();
    if (!attached) throw new ControlAway();
    return attached;
  }

  /** Calls a function that may be called twice with the same effect: it is repeated when the connection is lost meanwhile. */
  async call<M extends Method>(method: M, ...args: Arguments<M>): Promise<Result<M>> {
    return this.callWithin(WAIT_MS, method, ...args);
  }

  /** As `call`, with a time in milliseconds in which the control process must be there. */
  async callWithin<M extends Method>(waitMs: number, method: M, ...args: Arguments<M>): Promise<Result<M>> {
    const deadline = performance.now() + waitMs;
    for (;;) {
      const channel = await this.#connected(deadline - performance.now());
      try {
        return (await channel.call(method, ...(args as never))) as Result<M>;
      } catch (error) {
        if (!(error instanceof ChannelClosed)) throw error;
      }
    }
  }

  /** Calls a function once. @throws {ChannelClosed} when the connection was lost before the answer: it may have been called. */
  async callOnce<M extends Method>(method: M, ...args: Arguments<M>): Promise<Result<M>> {
    const channel = await this.#connected(WAIT_MS);
    return (await channel.call(method, ...(args as never))) as Result<M>;
  }

  close(): void {
    this.#isClosed = true;
    this.#channel?.close();
  }

  async #connected(waitMs: number): Promise<CallChannel<ControlCalls>> {
    const deadline = performance.now() + waitMs;
    while (!this.#channel) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || this.#isClosed || this.#waiting.size >= WAITING_MAX) throw new ControlAway();
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          this.#waiting.delete(done);
          resolve();
        };
        const timer = setTimeout(done, leftMs);
        this.#waiting.add(done);
      });
    }
    return this.#channel;
  }

  async #connect(): Promise<Attached | undefined> {
    const { sockets, state, own, onFailure } = this.#options;
    for (let hasFailed = false; !this.#isClosed; await pause(DIAL_PAUSE_MS)) {
      let channel: CallChannel<ControlCalls> | undefined;
      try {
        const socket = await sockets.connect(CONTROL_SOCKET, DIAL_TIMEOUT_MS);
        channel = new CallChannel<ControlCalls>(socket, own as unknown as Calls);
        const attached = await channel.call('attach', state());
        channel.onClosed(() => this.#lost());
        this.#channel = channel;
        for (const done of [...this.#waiting]) done();
        return attached;
      } catch (error) {
        channel?.close();
        const { code } = error as NodeJS.ErrnoException;
        // It is not there yet, or not any more.
        if (code === 'ENOENT' || code === 'ECONNREFUSED' || error instanceof ChannelClosed || hasFailed) continue;
        hasFailed = true;
        onFailure(error);
      }
    }
    return undefined;
  }

  #lost(): void {
    this.#channel = undefined;
    if (this.#isClosed) return;
    void this.#connect().then((attached) => attached && this.#options.onAttachedAgain(attached));
  }
}
