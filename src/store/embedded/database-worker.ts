import { Worker } from 'node:worker_threads';
import { compileOnce } from './baseline-wasm.js';
import { EmbeddedError } from './error.ts';

// Recovery after a kill takes 1 s.
const OPEN_TIMEOUT_MS = 120_000;
const OPENED = 0;
/** The database's own memory is not the worker's heap, where next to nothing is. */
const YOUNG_MB = 4;

interface Call {
  resolve(bytes: Uint8Array): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

type Message = { id: number; bytes: Uint8Array; fsyncs: number } | { fatal: string };

/**
 * The client of the worker thread that runs the database. Calls are answered in their order. The first failure, such as a crash or a
 * call without an answer, is final: it ends the worker, fails every call, and is reported to `onFatal` once.
 */
export class DatabaseWorker {
  readonly #worker: Worker;
  readonly #calls = new Map<number, Call>();
  readonly #callTimeoutMs: number;
  readonly #onFatal: (text: string) => void;
  readonly #opened: Promise<unknown>;
  #nextId = OPENED;
  #failure: EmbeddedError | undefined;
  #closing = false;
  #fsyncs = 0;

  /** @param directory where the database is; undefined: in memory. */
  constructor(directory: string | undefined, callTimeoutMs: number, onFatal: (text: string) => void) {
    this.#callTimeoutMs = callTimeoutMs;
    this.#onFatal = onFatal;
    compileOnce();
    this.#worker = new Worker(new URL('./worker.js', import.meta.url), {
      workerData: { directory },
      stdout: false,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    this.#worker.on('message', (message: Message) => this.#answered(message));
    this.#worker.on('error', (error) => this.#fail(`The embedded database crashed: ${error.message}`));
    this.#worker.on('exit', (code) => this.#fail(`The embedded database ended by itself (exit code ${code}).`));
    this.#opened = this.#expect(OPEN_TIMEOUT_MS);
  }

  /** Resolves when the database answers queries. @throws {EmbeddedError} when it does not start. */
  async opened(): Promise<void> {
    await this.#opened;
  }

  /** The number of fsync calls since the database was opened. */
  get fsyncs(): number {
    return this.#fsyncs;
  }

  /**
   * Runs whole protocol messages.
   * @param last the type byte of the last of them.
   * @throws {EmbeddedError} when the database is lost.
   */
  execute(bytes: Uint8Array<ArrayBuffer>, last: number): Promise<Uint8Array> {
    return this.#call({ type: 'execute', bytes, last }, [bytes.buffer]);
  }

  /** Resets the session state that a connection left behind, such as an open transaction. */
  async reset(): Promise<void> {
    await this.#call({ type: 'reset' }, []);
  }

  /** Closes the database and ends the worker; safe to call after a failure. */
  async close(): Promise<void> {
    if (!this.#failure) await this.#call({ type: 'close' }, []).catch(() => undefined);
    this.#closing = true;
    await this.#worker.terminate();
  }

  #call(request: object, transfer: ArrayBuffer[]): Promise<Uint8Array> {
    if (this.#failure) return Promise.reject(this.#failure);
    const id = this.#nextId;
    const answer = this.#expect(this.#callTimeoutMs);
    this.#worker.postMessage({ id, ...request }, transfer);
    return answer;
  }

  #expect(timeoutMs: number): Promise<Uint8Array> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const expire = () => {
        if (this.#calls.has(id)) this.#fail(`The embedded database has not answered for ${timeoutMs} ms.`);
      };
      // If this thread was busy, the answer may be waiting in its queue. It is checked once more before giving up.
      const timer = setTimeout(() => setImmediate(expire), timeoutMs).unref();
      this.#calls.set(id, { resolve, reject, timer });
    });
  }

  #answered(message: Message): void {
    if ('fatal' in message) {
      this.#fail(message.fatal);
      return;
    }
    this.#fsyncs = message.fsyncs;
    const call = this.#calls.get(message.id);
    if (!call) return;
    this.#calls.delete(message.id);
    clearTimeout(call.timer);
    call.resolve(message.bytes);
  }

  #fail(text: string): void {
    if (this.#failure || this.#closing) return;
    this.#failure = new EmbeddedError(text);
    const opening = this.#calls.has(OPENED);
    for (const call of this.#calls.values()) {
      clearTimeout(call.timer);
      call.reject(this.#failure);
    }
    this.#calls.clear();
    void this.#worker.terminate();
    // While the database opens, the rejection of `opened` reports the failure.
    if (!opening) this.#onFatal(text);
  }
}
