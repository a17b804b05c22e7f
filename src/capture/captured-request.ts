// A request that was captured, with its answer: plain data, which holds on to nothing of the connection it came on.

import type { Refusal, RequestReport } from '../edge/reports/traffic-reports.ts';
import { type VisitorError, visitorErrors } from '../http/visitor-errors.ts';
import type { CaptureDetail } from './capture-detail.ts';

/** What an entry takes besides its texts and bodies, and each field of a head; about. */
const ENTRY_BYTES = 1024;
const FIELD_BYTES = 96;

export type FieldPairs = readonly (readonly [name: string, value: string])[];

export interface BodyCapture {
  /** How many bytes it had, as far as it came. */
  bytes: number;
  /** How it begins. */
  kept: Buffer;
  /** Whether that is all of it. */
  isWhole: boolean;
}

export interface RequestCapture {
  /** `cap_…` */
  id: string;
  accountId: string;
  endpointId: string;
  /** The operation that a visitor who was refused was shown. */
  operationId: string | undefined;
  /** The wall clock, in milliseconds. */
  startedAt: number;
  durationMs: number;
  clientIp: string;
  isTls: boolean;
  httpVersion: RequestReport['request']['version'];
  method: string;
  scheme: 'http' | 'https';
  host: string;
  target: string;
  /** Undefined when the visitor got no answer. */
  status: number | undefined;
  isComplete: boolean;
  /** Why the gateway itself answered, or closed the connection. */
  refusal: Refusal | undefined;
  /** All of them, secrets included: see `redaction.ts`. */
  requestFields: FieldPairs;
  responseFields: FieldPairs;
  requestBody: BodyCapture;
  responseBody: BodyCapture;
  /** What a replay repeats. */
  replayOf: string | undefined;
  /** The names of those of its fields, in lower case, whose values are not shown. */
  redacted: ReadonlySet<string>;
}

export interface CaptureContext {
  id: string;
  /** When it was over. */
  endedAt: number;
  /** The names of fields, in lower case, whose values are not to be shown. */
  redacted: ReadonlySet<string>;
  replayOf: string | undefined;
}

/** @param detail whose copies end with this. */
export function toCapturedRequest(report: RequestReport, detail: CaptureDetail, facts: CaptureContext): RequestCapture {
  const { accountId, endpointId, connection, tls, request, response } = report;
  const { isOwnAnswer, isRequestComplete, isUpgraded } = detail;
  const fields = response?.fields ?? [];
  return {
    id: facts.id,
    accountId,
    endpointId,
    operationId: isOwnAnswer ? firstValue(fields, 'service-operation-id') : undefined,
    startedAt: request.firstByteAt,
    durationMs: Math.max(0, (response?.lastByteAt ?? facts.endedAt) - request.firstByteAt),
    clientIp: connection.clientIp,
    isTls: tls !== undefined,
    httpVersion: request.version,
    method: request.method,
    scheme: request.scheme,
    host: request.host,
    target: request.target,
    status: response?.status,
    isComplete: response?.isComplete === true,
    refusal: detail.refusal ?? (isOwnAnswer ? ownErrorIn(fields) : undefined),
    requestFields: request.fields,
    responseFields: fields,
    requestBody: bodyOf(request.bodyLength, detail.request?.finish(), isRequestComplete && !isUpgraded),
    responseBody: bodyOf(response?.bodyLength ?? 0, detail.response?.finish(), isDone(response) && !isUpgraded),
    replayOf: facts.replayOf,
    redacted: namesAmong(facts.redacted, request.fields, fields),
  };
}

/** What it takes of the memory besides its bodies, about. */
export function headMemory({ requestFields, responseFields, host, target, refusal }: RequestCapture): number {
  let bytes = ENTRY_BYTES + host.length + target.length + (refusal?.reason.length ?? 0);
  for (const [name, value] of [...requestFields, ...responseFields]) bytes += FIELD_BYTES + name.length + value.length;
  return bytes;
}

export function bodyMemory({ requestBody, responseBody }: RequestCapture): number {
  return requestBody.kept.length + responseBody.kept.length;
}

/** Does not show values of these names any more, either. @param names in lower case. */
export function redact(captured: RequestCapture, names: ReadonlySet<string>): void {
  const further = namesAmong(names, captured.requestFields, captured.responseFields);
  captured.redacted = new Set([...captured.redacted, ...further]);
}

/** The first value of a field. @param name in lower case. */
export function firstValue(fields: FieldPairs, name: string): string | undefined {
  return fields.find((field) => field[0].toLowerCase() === name)?.[1];
}

const NOTHING = Buffer.alloc(0);
const isDone = (response: RequestReport['response']) => response === undefined || response.isComplete;

function bodyOf(bytes: number, kept: Buffer = NOTHING, isComplete: boolean): BodyCapture {
  return { bytes, kept, isWhole: isComplete && kept.length === bytes };
}

/** Those of the names that fields have: no request holds on to what has nothing to do with it. */
function namesAmong(names: ReadonlySet<string>, ...fields: FieldPairs[]): Set<string> {
  const theirs = fields.flat().map(([name]) => name.toLowerCase());
  return new Set(theirs.filter((name) => names.has(name)));
}

/** What one of the gateway's own errors says. */
function ownErrorIn(fields: FieldPairs): Refusal | undefined {
  const code = firstValue(fields, 'gateway-error-code');
  const reason = code && reasons.get(code);
  return reason ? { module: 'gateway', reason } : undefined;
}

const reasons = new Map(
  (Object.keys(visitorErrors) as VisitorError[]).map((error) => {
    const { number, text } = visitorErrors[error];
    return [`ERR_GATEWAY_${number}`, text];
  }),
);
