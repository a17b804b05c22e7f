// Captures of requests at addresses where a user has started one: they are stored, what they record is only in the memory of
// this node. At all other endpoints, a request costs one look-up.

import type { RequestReport, TrafficReporter } from '../edge/reports/traffic-reports.ts';
import { ownPathOf } from '../policy/sign-in/requests.ts';
import type { LiveEndpoint } from '../tunnel/endpoints/endpoint.ts';
import type { EndpointRegistry } from '../tunnel/endpoints/endpoint-registry.ts';
import { ActiveReplays } from './active-replays.ts';
import { CaptureBuffer, type CaptureSettings } from './capture-buffer.ts';
import { CaptureDetail } from './capture-detail.ts';
import { CaptureMemory } from './capture-memory.ts';
import { type RequestCapture, toCapturedRequest } from './captured-request.ts';
import { redactedNames } from './redaction.ts';
import {
  type CapturedEndpoint,
  type CaptureTarget,
  type StoredCapture,
  targetHostname,
  targetKey,
} from './stored-capture.ts';

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
  endpoints: Pick<EndpointRegistry, 'byId' | 'isServed'>;
  /** The time for which captured requests of an offline address are kept once its capture is off; milliseconds. */
  holdMs: number;
  /** Whether requests to endpoints of other nodes come here, too; false when left out. */
  reachesNodes?: boolean;
}

/** What this node knows of the capture at an address. */
export interface CaptureState extends CaptureSettings {
  isOn: boolean;
  /** Since when this node records, in milliseconds of the wall clock; 0 when it has recorded nothing. */
  since: number;
  /** The number of stored requests. */
  kept: number;
  /** The bytes of the stored requests. */
  keptBytes: number;
  /** The number of requests since then. */
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
  /** By `targetKey`. */
  readonly #buffers = new Map<string, CaptureBuffer>();
  /** The buffers of the captures that are on, by host name: HTTP and HTTPS may have one each. */
  readonly #active = new Map<string, CaptureBuffer[]>();
  readonly #listeners = new Map<string, Set<Listener>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: CapturesDeps) {
    this.#deps = deps;
  }

  /** Whether requests to an endpoint are captured. */
  has(endpoint: CapturedEndpoint): boolean {
    return this.#find(endpoint) !== undefined;
  }

  /** An endpoint; undefined unless it is live on this node. */
  endpoint(id: string): LiveEndpoint | undefined {
    return this.#deps.endpoints.byId(id);
  }

  /** The observer for a request; undefined when the endpoint has no capture. This is called for every request. */
  observe(endpoint: CapturedEndpoint): CaptureDetail | undefined {
    const buffer = this.#find(endpoint);
    return buffer && new CaptureDetail(buffer.settings.bodyBytes, buffer);
  }

  /** Captures a completed request. */
  take(report: RequestReport): void {
    const { observer: detail } = report;
    if (!(detail instanceof CaptureDetail)) return;
    const { budget: buffer } = detail;
    const endedAt = this.#deps.time();
    if (!(buffer instanceof CaptureBuffer) || !buffer.isOn || endedAt >= buffer.settings.endsAt)
      return void detail.discard();
    // What the gateway answers itself, where visitors sign in, is nobody's to see: it has what they sign in with.
    if (ownPathOf(report.request.target) !== undefined) return void detail.discard();
    buffer.seen++;
    const replay = this.activeReplays.find(detail.peer);
    const { settings, target } = buffer;
    const context = {
      ...{ id: this.#deps.newId(), endedAt, address: target.address },
      ...{ redacted: settings.redacted, replayOf: replay?.id },
    };
    const captured = toCapturedRequest(report, detail, context);
    replay?.onCaptured(captured);
    if (!buffer.store(captured)) return;
    for (const listener of this.#listeners.get(targetKey(target)) ?? []) listener(captured);
  }

  /** What this node knows of the capture at an address. */
  state(target: CaptureTarget): CaptureState {
    const buffer = this.#buffers.get(targetKey(target));
    if (!buffer) return NO_CAPTURE;
    const { settings, since, size: kept, bytes: keptBytes, seen: passed, evicted: forgotten } = buffer;
    const isOn = buffer.isOn && this.#deps.time() < settings.endsAt;
    return { ...settings, isOn, since, kept, keptBytes, passed, forgotten };
  }

  /** The user who started the capture or changed it last; undefined when it is off and no request is stored. */
  ownerOf(target: CaptureTarget): string | undefined {
    const buffer = this.#buffers.get(targetKey(target));
    return buffer && (buffer.size > 0 || this.state(target).isOn) ? buffer.ownerId : undefined;
  }

  /** The captured requests of an address, the newest first. */
  list(target: CaptureTarget): RequestCapture[] {
    return this.#buffers.get(targetKey(target))?.list() ?? [];
  }

  /** A captured request; undefined when it is not stored. */
  get(id: string): RequestCapture | undefined {
    return this.#memory.holderOf(id)?.get(id);
  }

  /**
   * Takes over captures as they are stored: those that are not there any more end, and what they have captured stays.
   * @param ids those that were looked for, or null for all. @param stored those of them that are on.
   */
  apply(ids: readonly string[] | null, stored: readonly StoredCapture[]): void {
    const asked = ids && new Set(ids);
    const found = new Set(stored.map(({ id }) => id));
    for (const buffer of this.#buffers.values())
      if ((!asked || asked.has(buffer.captureId)) && !found.has(buffer.captureId)) this.#end(buffer);
    for (const capture of stored) this.#set(capture);
  }

  /** Deletes the captured requests of an address. */
  clear(target: CaptureTarget): void {
    this.#buffers.get(targetKey(target))?.clear();
  }

  /**
   * Calls the listener with each request that is captured at an address, also by later captures.
   * @returns the function that removes the listener.
   */
  listen(target: CaptureTarget, listener: Listener): () => void {
    const key = targetKey(target);
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key);
    };
  }

  /** Ends expired captures, and forgets those that are off at addresses that stay offline. */
  sweep(): void {
    const { time, endpoints, reachesNodes } = this.#deps;
    const holdMs = reachesNodes ? Math.max(this.#deps.holdMs, ELSEWHERE_HOLD_MS) : this.#deps.holdMs;
    const now = time();
    for (const [key, buffer] of this.#buffers) {
      if (now >= buffer.settings.endsAt) this.#end(buffer);
      const isNeeded = buffer.isOn || endpoints.isServed(buffer.target.address);
      buffer.offlineSince = isNeeded ? undefined : (buffer.offlineSince ?? now);
      if (buffer.offlineSince === undefined || now - buffer.offlineSince < holdMs) continue;
      buffer.clear();
      this.#buffers.delete(key);
    }
    if (this.#buffers.size === 0) this.close();
  }

  /** Stops the timer. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #find(endpoint: CapturedEndpoint): CaptureBuffer | undefined {
    return this.#active.get(endpoint.hostname)?.find((buffer) => buffer.isOf(endpoint));
  }

  #set(capture: StoredCapture): void {
    const { id, ownerId, bodyBytes, redactHeaders, endsAt, accountId, address } = capture;
    const key = targetKey(capture);
    const buffer = this.#buffers.get(key) ?? new CaptureBuffer({ accountId, address }, this.#memory);
    this.#buffers.set(key, buffer);
    if (buffer.captureId !== id) buffer.startAnew(id, this.#deps.time());
    buffer.settings = { bodyBytes, redacted: redactedNames(redactHeaders), endsAt };
    buffer.ownerId = ownerId;
    if (!buffer.isOn) {
      buffer.isOn = true;
      const hostname = targetHostname(address);
      this.#active.set(hostname, [...(this.#active.get(hostname) ?? []), buffer]);
    }
    this.#timer ??= setInterval(() => this.sweep(), SWEEP_INTERVAL_MS).unref();
  }

  #end(buffer: CaptureBuffer): void {
    buffer.isOn = false;
    const hostname = targetHostname(buffer.target.address);
    const others = this.#active.get(hostname)?.filter((other) => other !== buffer) ?? [];
    if (others.length > 0) this.#active.set(hostname, others);
    else this.#active.delete(hostname);
  }
}

const NO_CAPTURE: CaptureState = {
  isOn: false,
  since: 0,
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
    wantsRequests: (accountId) => reporter.wantsRequests(accountId),
    wantsConnections: (accountId) => reporter.wantsConnections(accountId),
    observe: (endpoint) => captures.observe(endpoint),
    request(report) {
      try {
        captures.take(report);
      } finally {
        if (reporter.wantsRequests(report.accountId)) reporter.request(report);
      }
    },
    connection: (report) => reporter.connection(report),
  };
}
