// The captured requests of one address: a buffer of the newest ones.

import type { MemoryBudget } from './body-recorder.ts';
import type { CaptureHolder, CaptureMemory } from './capture-memory.ts';
import { bodyMemory, headMemory, type RequestCapture, redact } from './captured-request.ts';
import { type CapturedEndpoint, type CaptureTarget, targetOf } from './stored-capture.ts';

/** The most captured requests of one address. */
export const REQUESTS_MAX = 200;
/** The most bytes of these requests with their bodies. Bodies that are being recorded have a limit of the same size. */
export const BYTES_MAX = 8 * 1024 * 1024;

/** The settings of a capture. */
export interface CaptureSettings {
  /** The most bytes that are recorded of each body. */
  bodyBytes: number;
  /** The names of header fields, in lower case, whose values are redacted. */
  redacted: ReadonlySet<string>;
  /** When the capture ends, in milliseconds of the wall clock. */
  endsAt: number;
}

/** The buffer of one address. When it is full, the oldest requests are evicted. */
export class CaptureBuffer implements MemoryBudget, CaptureHolder {
  readonly target: CaptureTarget;
  /** The capture that fills it, or did last: `tcap_…`. */
  captureId = '';
  /** The user who started the capture, or changed its settings last: `usr_…`, `bot_…`. */
  ownerId = '';
  /** Whether requests are captured. */
  isOn = false;
  /** Since when this node has filled it for that capture, in milliseconds of the wall clock. */
  since = 0;
  /** The number of requests since then. */
  seen = 0;
  /** The number of requests that were evicted for newer ones since then. */
  evicted = 0;
  /** The bytes of the stored requests. */
  bytes = 0;
  /** When the address was found offline with its capture off, in milliseconds; undefined while it is neither. */
  offlineSince: number | undefined;
  #settings: CaptureSettings = { bodyBytes: 0, redacted: new Set(), endsAt: 0 };
  readonly #memory: CaptureMemory<CaptureBuffer>;
  /** The stored requests by their ids, the oldest first. */
  readonly #entries = new Map<string, { captured: RequestCapture; bytes: number }>();
  /** The bytes of the bodies that are being recorded. */
  #recordingBytes = 0;

  constructor(target: CaptureTarget, memory: CaptureMemory<CaptureBuffer>) {
    this.target = target;
    this.#memory = memory;
  }

  get accountId(): string {
    return this.target.accountId;
  }

  /** Whether the requests to an endpoint belong here. */
  isOf(endpoint: CapturedEndpoint): boolean {
    const { accountId, address } = targetOf(endpoint);
    return accountId === this.target.accountId && address === this.target.address;
  }

  /** Begins another capture: what the one before has captured is forgotten. @param now the wall clock, in milliseconds. */
  startAnew(captureId: string, now: number): void {
    this.clear();
    this.captureId = captureId;
    this.since = now;
    this.seen = 0;
    this.evicted = 0;
  }

  get settings(): CaptureSettings {
    return this.#settings;
  }

  /** New settings redact more fields of the stored requests, too. Fields that were redacted before stay redacted. */
  set settings(settings: CaptureSettings) {
    this.#settings = settings;
    for (const { captured } of this.#entries.values()) redact(captured, settings.redacted);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The stored requests, the newest first. */
  list(): RequestCapture[] {
    return Array.from(this.#entries.values(), ({ captured }) => captured).reverse();
  }

  get(id: string): RequestCapture | undefined {
    return this.#entries.get(id)?.captured;
  }

  /** Takes memory for a body that is being recorded. */
  take(bytes: number): boolean {
    if (this.#recordingBytes + bytes > BYTES_MAX || !this.#memory.takeForRecording(bytes, this)) return false;
    this.#recordingBytes += bytes;
    return true;
  }

  free(bytes: number): void {
    this.#recordingBytes -= bytes;
    this.#memory.recordingEnded(bytes, this);
    this.#memory.free(bytes, this);
  }

  /** Stores a request whose bodies were recorded here. @returns false when there is no memory for it. */
  store(captured: RequestCapture): boolean {
    const bodies = bodyMemory(captured);
    const head = headMemory(captured);
    this.#recordingBytes -= bodies;
    this.#memory.recordingEnded(bodies, this);
    if (!this.#memory.take(head, this)) {
      this.#memory.free(bodies, this);
      return false;
    }
    const bytes = bodies + head;
    while (this.size === REQUESTS_MAX || (this.size > 0 && this.bytes + bytes > BYTES_MAX)) {
      const [oldest] = this.#entries.keys();
      this.evict(oldest as string);
    }
    this.#entries.set(captured.id, { captured, bytes });
    this.bytes += bytes;
    this.#memory.added(captured.id, this);
    return true;
  }

  evict(id: string): void {
    this.#remove(id);
    this.evicted++;
  }

  clear(): void {
    for (const id of [...this.#entries.keys()]) this.#remove(id);
  }

  #remove(id: string): void {
    const bytes = this.#entries.get(id)?.bytes ?? 0;
    this.#entries.delete(id);
    this.bytes -= bytes;
    this.#memory.removed(id, this);
    this.#memory.free(bytes, this);
  }
}
