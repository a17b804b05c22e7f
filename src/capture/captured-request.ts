// A captured request with its response. It is plain data without references to its connection, so that it keeps no
// buffers alive.

import type { Refusal, RequestReport } from '../edge/reports/traffic-reports.ts';
import { type VisitorError, visitorErrors } from '../http/visitor-errors.ts';
import type { EndpointAddress } from '../tunnel/endpoints/endpoint-registry.ts';
import type { CaptureDetail } from './capture-detail.ts';

/** The estimated memory of a captured request without texts and bodies, and of each header field, in bytes. */
const ENTRY_BYTES = 1024;
const FIELD_BYTES = 96;

/** Header fields in the order of the message. */
export type FieldPairs = readonly (readonly [name: string, value: string])[];

/** The recorded part of a body. */
export interface BodyCapture {
  /** The bytes of the body that were received. */
  bytes: number;
  /** The recorded first bytes. */
  kept: Buffer;
  /** Whether these are the whole body. */
  isWhole: boolean;
}

/** A captured request. */
export interface RequestCapture {
  /** The id: `cap_…`. */
  id: string;
  accountId: string;
  /** The endpoint that served the address then. */
  endpointId: string;
  address: EndpointAddress;
  /** The operation id in the gateway's own response. */
  operationId: string | undefined;
  /** When its first byte was received, in milliseconds of the wall clock. */
  startedAt: number;
  durationMs: number;
  clientIp: string;
  isTls: boolean;
  httpVersion: RequestReport['request']['version'];
  method: string;
  scheme: 'http' | 'https';
  host: string;
  target: string;
  /** The status; undefined when there was no response. */
  status: number | undefined;
  /** Whether the response was sent completely. */
  isComplete: boolean;
  /** The reason why the gateway itself responded or closed the connection. */
  refusal: Refusal | undefined;
  /** All header fields with their secrets. `redactedFields` makes what may be shown. */
  requestFields: FieldPairs;
  responseFields: FieldPairs;
  requestBody: BodyCapture;
  responseBody: BodyCapture;
  /** The id of the captured request that this one repeats; undefined unless it is a replay. */
  replayOf: string | undefined;
  /** The names of its header fields, in lower case, whose values are redacted. */
  redacted: ReadonlySet<string>;
}

/** The part of a captured request that is not in its report. */
export interface CaptureContext {
  id: string;
  /** When the request ended, in milliseconds of the wall clock. */
  endedAt: number;
  /** The names of header fields, in lower case, whose values are redacted. */
  redacted: ReadonlySet<string>;
  replayOf: string | undefined;
  address: EndpointAddress;
}

/** Makes a captured request of a report. It ends the recording of the bodies. */
export function toCapturedRequest(
  report: RequestReport,
  detail: CaptureDetail,
  context: CaptureContext,
): RequestCapture {
  const { accountId, endpointId, connection, tls, request, response } = report;
  const { isLocalResponse, isRequestComplete, isUpgraded } = detail;
  const fields = response?.fields ?? [];
  return {
    id: context.id,
    accountId,
    endpointId,
    address: context.address,
    operationId: isLocalResponse ? firstValue(fields, 'service-operation-id') : undefined,
    startedAt: request.firstByteAt,
    durationMs: Math.max(0, (response?.lastByteAt ?? context.endedAt) - request.firstByteAt),
    clientIp: connection.clientIp,
    isTls: tls !== undefined,
    httpVersion: request.version,
    method: request.method,
    scheme: request.scheme,
    host: request.host,
    target: request.target,
    status: response?.status,
    isComplete: response?.isComplete === true,
    refusal: detail.refusal ?? (isLocalResponse ? gatewayErrorIn(fields) : undefined),
    requestFields: request.fields,
    responseFields: fields,
    requestBody: bodyOf(request.bodyLength, detail.request?.finish(), isRequestComplete && !isUpgraded),
    responseBody: bodyOf(response?.bodyLength ?? 0, detail.response?.finish(), isDone(response) && !isUpgraded),
    replayOf: context.replayOf,
    redacted: namesAmong(context.redacted, request.fields, fields),
  };
}

/** The estimated memory of a captured request without its bodies, in bytes. */
export function headMemory({ requestFields, responseFields, host, target, refusal }: RequestCapture): number {
  let bytes = ENTRY_BYTES + host.length + target.length + (refusal?.reason.length ?? 0);
  for (const [name, value] of [...requestFields, ...responseFields]) bytes += FIELD_BYTES + name.length + value.length;
  return bytes;
}

/** The memory of the recorded bodies, in bytes. */
export function bodyMemory({ requestBody, responseBody }: RequestCapture): number {
  return requestBody.kept.length + responseBody.kept.length;
}

/** Redacts further fields. @param names in lower case. */
export function redact(captured: RequestCapture, names: ReadonlySet<string>): void {
  const further = namesAmong(names, captured.requestFields, captured.responseFields);
  captured.redacted = new Set([...captured.redacted, ...further]);
}

/** The first value of a header field. @param name in lower case. */
export function firstValue(fields: FieldPairs, name: string): string | undefined {
  return fields.find((field) => field[0].toLowerCase() === name)?.[1];
}

const EMPTY = Buffer.alloc(0);
const isDone = (response: RequestReport['response']) => response === undefined || response.isComplete;

function bodyOf(bytes: number, kept: Buffer = EMPTY, isComplete: boolean): BodyCapture {
  return { bytes, kept, isWhole: isComplete && kept.length === bytes };
}

/** The names that the fields have. A captured request keeps only these, to save memory. */
function namesAmong(names: ReadonlySet<string>, ...fields: FieldPairs[]): Set<string> {
  const theirs = fields.flat().map(([name]) => name.toLowerCase());
  return new Set(theirs.filter((name) => names.has(name)));
}

/** The reason in one of the gateway's own error responses. */
function gatewayErrorIn(fields: FieldPairs): Refusal | undefined {
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
