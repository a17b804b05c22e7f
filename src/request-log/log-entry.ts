// Logged requests as they are shown, and as nodes tell each other of them: plain data.

import { randomBytes } from 'node:crypto';
import { gatewayErrorOf, type LoggedRequest } from '../edge/reports/logged-request.ts';

const PLACE_DIGITS = 11;
const NODE_DIGITS = 16;
/** What their ids begin with. */
export const LOG_PREFIX = 'rq';

/** A logged request. Durations are milliseconds since its head had come. */
export interface LogEntry {
  /** `rq_…`; they sort by the time when requests were over, over all nodes. */
  id: string;
  endpointId: string;
  routeId: string | null;
  startedAt: number;
  clientIp: string;
  scheme: 'http' | 'https';
  httpVersion: string;
  method: string;
  host: string;
  path: string;
  status: number | null;
  bytesIn: number;
  bytesOut: number;
  userAgent: string;
  operationId: string | null;
  refusal: { module: string; reason: string } | null;
  errorCode: string | null;
  upstreamMs: number | null;
  firstByteMs: number | null;
  durationMs: number;
  isComplete: boolean;
  isOpen: boolean;
}

/** Makes the ids of logged requests when they are asked for: of the place in the log, and of the node. */
export class LogIds {
  readonly #node = randomBytes(NODE_DIGITS / 2).toString('hex');

  of({ place }: Pick<LoggedRequest, 'place'>): string {
    return `${LOG_PREFIX}_${place.toString(36).padStart(PLACE_DIGITS, '0')}${this.#node}`;
  }
}

/** The place that is in an id; NaN when there is none. */
export function placeIn(id: string): number {
  const start = LOG_PREFIX.length + 1;
  return Number.parseInt(id.slice(start, start + PLACE_DIGITS), 36);
}

export function toLogEntry(request: LoggedRequest, id: string): LogEntry {
  const { scheme, hostname, port, refusal, status } = request;
  const error = gatewayErrorOf(request);
  const isUsualPort = port === (scheme === 'https' ? 443 : 80);
  return {
    id,
    endpointId: request.endpointId,
    routeId: request.routeId ?? null,
    startedAt: request.startedAt,
    clientIp: request.clientIp,
    scheme,
    httpVersion: request.httpVersion,
    method: request.method,
    host: isUsualPort ? hostname : `${hostname}:${port}`,
    path: request.path,
    status: status || null,
    bytesIn: request.bytesIn,
    bytesOut: request.bytesOut,
    userAgent: request.userAgent,
    operationId: request.operationId ?? null,
    refusal: refusal ?? (error ? { module: 'gateway', reason: error.text } : null),
    errorCode: error?.code ?? null,
    upstreamMs: timeOf(request.upstreamMicros),
    firstByteMs: timeOf(request.firstByteMicros),
    durationMs: timeOf(request.durationMicros) ?? 0,
    isComplete: request.isComplete,
    isOpen: request.isOpen,
  };
}

/** @returns milliseconds; null for what never was. */
function timeOf(micros: number): number | null {
  return micros < 0 ? null : micros / 1000;
}
