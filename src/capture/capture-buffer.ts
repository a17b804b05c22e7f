// The captured requests of one endpoint: the newest ones, as many as there is room for.

import type { MemoryBudget } from './body-recorder.ts';
import type { CaptureHolder, CaptureMemory } from './capture-memory.ts';
import { bodyMemory, headMemory, type RequestCapture, redact } from './captured-request.ts';

/** Requests of one endpoint. */
export const REQUESTS_MAX = 200;
/** Bytes of them with their bodies; and once more, of the bodies that are being copied. */
export const BYTES_MAX = 8 * 1024 * 1024;

export interface CaptureSettings {
  /** How much of each body is kept. */
  bodyBytes: number;
  /** The names of fields, in lower case, whose values are not shown. */
  redacted: ReadonlySet<string>;
  /** When it ends by itself: the wall clock, in milliseconds. */
  endsAt: number;
}

export class CaptureBuffer implements MemoryBudget, CaptureHolder {
  readonly endpointId: string;
  readonly accountId: string;
  /** Who switched it on, or changed it since: `usr_…`, `bot_…`. */
  ownerId = '';
  isOn = true;
  /** Requests since it was switched on. */
  seen = 0;
  /** How many were kept since then, and had to go for newer ones. */
  evicted = 0;
  /** Bytes of what is kept. */
  bytes = 0;
  /** Since when the endpoint is not live; undefined while it is. */
  offlineSince: number | undefined;
  #settings: CaptureSettings;
  readonly #memory: CaptureMemory<CaptureBuffer>;
  /** The oldest first. */
  readonly #entries = new Map<string, { captured: RequestCapture; bytes: number }>();
  /** Bytes of the bodies that are being copied. */
  #copying = 0;

  constructor(endpointId: string, accountId: string, settings: CaptureSettings, memory: CaptureMemory<CaptureBuffer>) {
    this.endpointId = endpointId;
    this.accountId = accountId;
    this.#settings = settings;
    this.#memory = memory;
  }

  get settings(): CaptureSettings {
    return this.#settings;
  }

  /** What was not to be shown before stays so; what is not to be shown now never is. */
  set settings(settings: CaptureSettings) {
    this.#settings = settings;
    for (const { captured } of this.#entries.values()) redact(captured, settings.redacted);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The newest first. */
  list(): RequestCapture[] {
    return Array.from(this.#entries.values(), ({ captured }) => captured).reverse();
  }

  get(id: string): RequestCapture | undefined {
    return this.#entries.get(id)?.captured;
  }

  /** For bodies that are being copied. */
  take(bytes: number): boolean {
    if (this.#copying + bytes > BYTES_MAX || !this.#memory.takeForRecording(bytes, this)) return false;
    this.#copying += bytes;
    return true;
  }

  free(bytes: number): void {
    this.#copying -= bytes;
    this.#memory.recordingEnded(bytes, this);
    this.#memory.free(bytes, this);
  }

  /** @param captured whose bodies were copied here. @returns false when there is no room for it. */
  keep(captured: RequestCapture): boolean {
    const copied = bodyMemory(captured);
    const head = headMemory(captured);
    this.#copying -= copied;
    this.#memory.recordingEnded(copied, this);
    if (!this.#memory.take(head, this)) {
      this.#memory.free(copied, this);
      return false;
    }
    const bytes = copied + head;
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
    this.#drop(id);
    this.evicted++;
  }

  clear(): void {
    for (const id of [...this.#entries.keys()]) this.#drop(id);
  }

  #drop(id: string): void {
    const bytes = this.#entries.get(id)?.bytes ?? 0;
    this.#entries.delete(id);
    this.bytes -= bytes;
    this.#memory.removed(id, this);
    this.#memory.free(bytes, this);
  }
}
