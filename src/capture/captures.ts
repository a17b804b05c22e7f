// Captures of requests at endpoints where a user has started one. They are only in the memory of this node. At all other
// endpoints, a request costs one look-up.

import type { RequestReport, TrafficReporter } from '../edge/reports/traffic-reports.ts';
import type { LiveEndpoint } from '../tunnel/endpoints/endpoint.ts';
import type { EndpointRegistry } from '../tunnel/endpoints/endpoint-registry.ts';
import { ActiveReplays } from './active-replays.ts';
import { CaptureBuffer, type CaptureSettings } from './capture-buffer.ts';
import { CaptureDetail } from './capture-detail.ts';
import { CaptureMemory } from './capture-memory.ts';
import { type RequestCapture, toCapturedRequest } from './captured-request.ts';
import { redactedNames } from './redaction.ts';

/** The interval at which expired captures are ended; milliseconds. */
const SWEEP_INTERVAL_MS = 1000;
/** How long those are kept at least whose endpoint may be at another node; milliseconds. */
const ELSEWHERE_HOLD_MS = 600_000;

/** The dependencies of captures. */
export interface CapturesDeps {
  /** Makes the id of a captured request: `cap_…`. */
  newId(): string;
  /** The wall clock, in milliseconds. */
  time(): number;
  /** The endpoints that are live on this node. */
  endpoints: Pick<EndpointRegistry, 'byId'>;
  /** The time for which captured requests of an offline endpoint are kept; milliseconds. */
  holdMs: number;
  /** Whether requests to endpoints of other nodes come here, too; false when left out. */
  reachesNodes?: boolean;
}

/** The options of a capture that a user starts. */
export interface CaptureOptions {
  /** The most bytes to record of each body. */
  bodyBytes: number;
  /** The names of header fields to redact, in any case, in addition to those that always are. */
  redactHeaders: readonly string[];
  /** The duration of the capture. */
  minutes: number;
}

/** The state of the capture at an endpoint. */
export interface CaptureState extends CaptureSettings {
  endpointId: string;
  isOn: boolean;
  /** The number of stored requests. */
  kept: number;
  /** The bytes of the stored requests. */
  keptBytes: number;
  /** The number of requests since the capture was started. */
  passed: number;
  /** The number of requests that were evicted since then. */
  forgotten: number;
}

type Listener = (captured: RequestCapture) => void;

/** The captures of this node. */
export class Captures {
  /** The replays in progress. */
  readonly activeReplays = new ActiveReplays();
  readonly #deps: CapturesDeps;
  readonly #memory = new CaptureMemory<CaptureBuffer>();
  readonly #buffers = new Map<string, CaptureBuffer>();
  /** The buffers of the captures that are on. */
  readonly #active = new Map<string, CaptureBuffer>();
  readonly #listeners = new Map<string, Set<Listener>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: CapturesDeps) {
    this.#deps = deps;
  }

  /** Whether requests to an endpoint are captured. This is called for every request. */
  has(endpointId: string): boolean {
    return this.#active.has(endpointId);
  }

  /** An endpoint; undefined unless it is live on this node. */
  endpoint(id: string): LiveEndpoint | undefined {
    return this.#deps.endpoints.byId(id);
  }

  /** The observer for a request; undefined when the endpoint has no capture. */
  observe(endpointId: string): CaptureDetail | undefined {
    const buffer = this.#active.get(endpointId);
    return buffer && new CaptureDetail(buffer.settings.bodyBytes, buffer);
  }

  /** Captures a completed request. */
  take(report: RequestReport): void {
    const { observer: detail } = report;
    if (!(detail instanceof CaptureDetail)) return;
    const buffer = this.#active.get(report.endpointId);
    const endedAt = this.#deps.time();
    if (buffer !== detail.budget || !buffer || endedAt >= buffer.settings.endsAt) return void detail.discard();
    buffer.seen++;
    const replay = this.activeReplays.find(detail.peer);
    const context = { id: this.#deps.newId(), endedAt, redacted: buffer.settings.redacted, replayOf: replay?.id };
    const captured = toCapturedRequest(report, detail, context);
    replay?.onCaptured(captured);
    if (!buffer.store(captured)) return;
    for (const listener of this.#listeners.get(report.endpointId) ?? []) listener(captured);
  }

  /** The state of the capture at an endpoint. */
  state(endpointId: string): CaptureState {
    const buffer = this.#buffers.get(endpointId);
    if (!buffer) return { ...NO_CAPTURE, endpointId };
    const { settings, size: kept, bytes: keptBytes, seen: passed, evicted: forgotten } = buffer;
    const isOn = buffer.isOn && this.#deps.time() < settings.endsAt;
    return { ...settings, endpointId, isOn, kept, keptBytes, passed, forgotten };
  }

  /** The user who started the capture or changed it last; undefined when it is off and no request is stored. */
  ownerOf(endpointId: string): string | undefined {
    const buffer = this.#buffers.get(endpointId);
    return buffer && (buffer.size > 0 || this.state(endpointId).isOn) ? buffer.ownerId : undefined;
  }

  /** The captured requests of an endpoint, the newest first. */
  list(endpointId: string): RequestCapture[] {
    return this.#buffers.get(endpointId)?.list() ?? [];
  }

  /** A captured request; undefined when it is not stored. */
  get(id: string): RequestCapture | undefined {
    return this.#memory.holderOf(id)?.get(id);
  }

  /** Starts a capture, or changes the settings of one that is on. */
  start(
    endpointId: string,
    { accountId, ownerId }: { accountId: string; ownerId: string },
    { bodyBytes, redactHeaders, minutes }: CaptureOptions,
  ): void {
    const endsAt = this.#deps.time() + minutes * 60_000;
    const settings: CaptureSettings = { bodyBytes, redacted: redactedNames(redactHeaders), endsAt };
    const wasOn = this.state(endpointId).isOn;
    const buffer = this.#buffers.get(endpointId) ?? new CaptureBuffer(endpointId, accountId, settings, this.#memory);
    buffer.settings = settings;
    buffer.ownerId = ownerId;
    if (!wasOn) {
      buffer.clear();
      buffer.seen = 0;
      buffer.evicted = 0;
    }
    buffer.isOn = true;
    this.#buffers.set(endpointId, buffer);
    this.#active.set(endpointId, buffer);
    this.#timer ??= setInterval(() => this.sweep(), SWEEP_INTERVAL_MS).unref();
  }

  /** Ends a capture. Its captured requests stay. */
  stop(endpointId: string): void {
    const buffer = this.#active.get(endpointId);
    this.#active.delete(endpointId);
    if (buffer) buffer.isOn = false;
  }

  /** Deletes the captured requests of an endpoint. */
  clear(endpointId: string): void {
    this.#buffers.get(endpointId)?.clear();
  }

  /**
   * Calls the listener with each request that is captured at an endpoint, also by later captures.
   * @returns the function that removes the listener.
   */
  listen(endpointId: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(endpointId) ?? new Set();
    this.#listeners.set(endpointId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(endpointId) === listeners) this.#listeners.delete(endpointId);
    };
  }

  /** Ends expired captures, and deletes those of endpoints that stay offline. */
  sweep(): void {
    const { time, endpoints, reachesNodes } = this.#deps;
    const holdMs = reachesNodes ? Math.max(this.#deps.holdMs, ELSEWHERE_HOLD_MS) : this.#deps.holdMs;
    const now = time();
    for (const [endpointId, buffer] of this.#buffers) {
      if (now >= buffer.settings.endsAt) this.stop(endpointId);
      buffer.offlineSince =
        endpoints.byId(endpointId) || (reachesNodes && buffer.isOn) ? undefined : (buffer.offlineSince ?? now);
      if (buffer.offlineSince !== undefined && now - buffer.offlineSince >= holdMs) this.#delete(endpointId, buffer);
    }
    if (this.#buffers.size === 0) this.close();
  }

  /** Stops the timer. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #delete(endpointId: string, buffer: CaptureBuffer): void {
    this.stop(endpointId);
    buffer.clear();
    this.#buffers.delete(endpointId);
  }
}

const NO_CAPTURE = {
  isOn: false,
  bodyBytes: 0,
  redacted: redactedNames([]),
  endsAt: 0,
  kept: 0,
  keptBytes: 0,
  passed: 0,
  forgotten: 0,
};

/**
 * A reporter that passes requests to the captures and to another reporter. Each gets only the reports that it wants, and an
 * error of the captures does not affect the other.
 */
export function withCaptures(reporter: TrafficReporter, captures: Captures): TrafficReporter {
  return {
    wantsRequests: (accountId, endpointId) => captures.has(endpointId) || reporter.wantsRequests(accountId, endpointId),
    wantsConnections: (accountId) => reporter.wantsConnections(accountId),
    observe: (endpointId) => captures.observe(endpointId),
    request(report) {
      try {
        captures.take(report);
      } finally {
        if (reporter.wantsRequests(report.accountId, report.endpointId)) reporter.request(report);
      }
    },
    connection: (report) => reporter.connection(report),
  };
}
