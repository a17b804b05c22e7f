// The requests that people look at one by one, at the endpoints of which somebody has asked for it: in the memory of this
// node, and nowhere else. Elsewhere a request costs no more than the question.

import type { RequestReport, TrafficReporter } from '../edge/reports/traffic-reports.ts';
import type { LiveEndpoint } from '../tunnel/endpoints/endpoint.ts';
import type { EndpointRegistry } from '../tunnel/endpoints/endpoint-registry.ts';
import { ActiveReplays } from './active-replays.ts';
import { CaptureBuffer, type CaptureSettings } from './capture-buffer.ts';
import { CaptureDetail } from './capture-detail.ts';
import { CaptureMemory } from './capture-memory.ts';
import { type RequestCapture, toCapturedRequest } from './captured-request.ts';
import { redactedNames } from './redaction.ts';

/** How often it is looked whether a capture is over. */
const SWEEP_MS = 1000;

export interface CapturesDeps {
  /** `cap_…` */
  newId(): string;
  /** The wall clock, in milliseconds. */
  time(): number;
  /** Those that are live on this node. */
  endpoints: Pick<EndpointRegistry, 'byId'>;
  /** How long an endpoint that is not live may take to come back: what was captured of it is kept meanwhile. */
  holdMs: number;
}

export interface CaptureOptions {
  bodyBytes: number;
  /** Names of fields whose values are not to be shown, in any case; on top of those that never are. */
  redactHeaders: readonly string[];
  minutes: number;
}

export interface CaptureState extends CaptureSettings {
  endpointId: string;
  isOn: boolean;
  kept: number;
  keptBytes: number;
  passed: number;
  forgotten: number;
}

type Listener = (captured: RequestCapture) => void;

export class Captures {
  /** Of replays that are under way. */
  readonly replayed = new ActiveReplays();
  readonly #options: CapturesDeps;
  readonly #memory = new CaptureMemory<CaptureBuffer>();
  readonly #rings = new Map<string, CaptureBuffer>();
  /** Those that are on. */
  readonly #on = new Map<string, CaptureBuffer>();
  readonly #listeners = new Map<string, Set<Listener>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: CapturesDeps) {
    this.#options = options;
  }

  /** Whether requests to an endpoint are captured. Asked for every request. */
  has(endpointId: string): boolean {
    return this.#on.has(endpointId);
  }

  /** An endpoint, when it is live on this node. */
  endpoint(id: string): LiveEndpoint | undefined {
    return this.#options.endpoints.byId(id);
  }

  /** Where to note what the report of a request is to have for it; undefined for nothing. */
  observe(endpointId: string): CaptureDetail | undefined {
    const ring = this.#on.get(endpointId);
    return ring && new CaptureDetail(ring.settings.bodyBytes, ring);
  }

  /** Takes a request that is over. */
  take(report: RequestReport): void {
    const { observer: detail } = report;
    if (!(detail instanceof CaptureDetail)) return;
    const ring = this.#on.get(report.endpointId);
    const endedAt = this.#options.time();
    if (ring !== detail.budget || !ring || endedAt >= ring.settings.endsAt) return void detail.discard();
    ring.seen++;
    const replay = this.replayed.find(detail.peer);
    const facts = { id: this.#options.newId(), endedAt, redacted: ring.settings.redacted, replayOf: replay?.id };
    const captured = toCapturedRequest(report, detail, facts);
    replay?.onCaptured(captured);
    if (!ring.keep(captured)) return;
    for (const listener of this.#listeners.get(report.endpointId) ?? []) listener(captured);
  }

  /** What there is of an endpoint. */
  state(endpointId: string): CaptureState {
    const ring = this.#rings.get(endpointId);
    if (!ring) return { ...NOTHING, endpointId };
    const { settings, size: kept, bytes: keptBytes, seen: passed, evicted: forgotten } = ring;
    const isOn = ring.isOn && this.#options.time() < settings.endsAt;
    return { ...settings, endpointId, isOn, kept, keptBytes, passed, forgotten };
  }

  /** Who switched on what is captured of an endpoint, or changed it since; undefined when it is off and nothing is kept. */
  ownerOf(endpointId: string): string | undefined {
    const ring = this.#rings.get(endpointId);
    return ring && (ring.size > 0 || this.state(endpointId).isOn) ? ring.ownerId : undefined;
  }

  /** The newest first. */
  list(endpointId: string): RequestCapture[] {
    return this.#rings.get(endpointId)?.list() ?? [];
  }

  get(id: string): RequestCapture | undefined {
    return this.#memory.holderOf(id)?.get(id);
  }

  /** Begins, or goes on with other settings. @param of the account, and who of it wants this. */
  start(
    endpointId: string,
    { accountId, ownerId }: { accountId: string; ownerId: string },
    { bodyBytes, redactHeaders, minutes }: CaptureOptions,
  ): void {
    const endsAt = this.#options.time() + minutes * 60_000;
    const settings: CaptureSettings = { bodyBytes, redacted: redactedNames(redactHeaders), endsAt };
    const wasOn = this.state(endpointId).isOn;
    const ring = this.#rings.get(endpointId) ?? new CaptureBuffer(endpointId, accountId, settings, this.#memory);
    ring.settings = settings;
    ring.ownerId = ownerId;
    if (!wasOn) {
      ring.clear();
      ring.seen = 0;
      ring.evicted = 0;
    }
    ring.isOn = true;
    this.#rings.set(endpointId, ring);
    this.#on.set(endpointId, ring);
    this.#timer ??= setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  /** What is kept stays. */
  stop(endpointId: string): void {
    const ring = this.#on.get(endpointId);
    this.#on.delete(endpointId);
    if (ring) ring.isOn = false;
  }

  clear(endpointId: string): void {
    this.#rings.get(endpointId)?.clear();
  }

  /** Hears of each request that is captured at an endpoint, also when that begins later, until the returned function is called. */
  listen(endpointId: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(endpointId) ?? new Set();
    this.#listeners.set(endpointId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(endpointId) === listeners) this.#listeners.delete(endpointId);
    };
  }

  /** Ends what is over. */
  sweep(): void {
    const { time, endpoints, holdMs } = this.#options;
    const now = time();
    for (const [endpointId, ring] of this.#rings) {
      if (now >= ring.settings.endsAt) this.stop(endpointId);
      ring.offlineSince = endpoints.byId(endpointId) ? undefined : (ring.offlineSince ?? now);
      if (ring.offlineSince !== undefined && now - ring.offlineSince >= holdMs) this.#end(endpointId, ring);
    }
    if (this.#rings.size === 0) this.close();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #end(endpointId: string, ring: CaptureBuffer): void {
    this.stop(endpointId);
    ring.clear();
    this.#rings.delete(endpointId);
  }
}

const NOTHING = {
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
 * A reporter that gives requests to the captures as well as to another reporter. Each gets only what it asked for, and an
 * error of the captures does not keep the report from the other.
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
