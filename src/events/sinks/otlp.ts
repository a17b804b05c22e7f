// The OTLP sink, an addition to the specification. It sends events as OpenTelemetry logs over OTLP/HTTP in JSON to any collector.
// https://opentelemetry.io/docs/specs/otlp/#otlphttp

import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { WrittenEvent } from '../written-event.ts';
import { type ListMember, type SinkContext, type SinkDescriptor, secretMember, textMember } from './descriptor.ts';
import { isUrlAllowed } from './http/allowed-hosts.ts';
import { checkHeaderFields, headerErrors, type TargetHeaderFieldInput } from './http/header-fields.ts';
import { type PostResponse, post } from './http/post.ts';
import { responseReason, retryAfterOf } from './http/response-errors.ts';
import { type PutRejection, type Sink, SinkError, toShortLine } from './sink.ts';
import { checkTargetEntries, checkTargetMembers, requireText, TargetError } from './target-error.ts';

type OtlpTarget = {
  endpoint: string;
  headers: { name: string; value: string | null }[];
  compression: string;
  resourceAttributes: { name: string; value: string }[];
};

const URL_MAX_BYTES = 2048;
const ATTRIBUTES_MAX = 64;
const ATTRIBUTE_NAME_MAX_BYTES = 255;
const ATTRIBUTE_VALUE_MAX_BYTES = 4096;

const errors = {
  ...headerErrors,
  otlpEndpointForbidden: { number: 90410, text: '{member} {reason}.' },
  otlpCompression: { number: 90413, text: '{member} must be "gzip" or "none".' },
  tooManyAttributes: { number: 90414, text: '{member} may have at most {max} attributes.' },
  attributeRepeated: { number: 90415, text: '{member} occurs twice in the list.' },
};

const headers: ListMember = {
  kind: 'list',
  key: 'name',
  description: 'Header fields that are sent with each request.',
  inputDescription: 'Header fields to send with each request, as `Authorization`; at most 16.',
  shape: {
    name: 'OtlpHeader',
    description: 'A header field of requests to an OpenTelemetry collector.',
    inputDescription: 'A header field of requests to an OpenTelemetry collector.',
    members: {
      name: textMember('Its name in lower case.', 'Required. Its name, in any case.'),
      value: secretMember('Its value.', 'Required. Its value; at most 4096 bytes.'),
    },
  },
};

const resourceAttributes: ListMember = {
  kind: 'list',
  key: 'name',
  description: 'Attributes of the resource that the logs are of.',
  inputDescription:
    'Attributes of the resource that the logs are of, as `deployment.environment.name`; at most 64. `service.name` is ' +
    '`tunnel-gateway` unless it is among them.',
  shape: {
    name: 'OtlpAttribute',
    description: 'An attribute of an OpenTelemetry resource.',
    inputDescription: 'An attribute of an OpenTelemetry resource.',
    members: {
      name: textMember('The name of the attribute.', 'Required. The name of the attribute; at most 255 bytes.'),
      value: textMember('Its value.', 'Required. Its value; at most 4096 bytes.'),
    },
  },
};

export const otlp: SinkDescriptor<OtlpTarget> = {
  title: 'An OpenTelemetry collector.',
  description: 'An OpenTelemetry collector, which receives logs over OTLP/HTTP.',
  isAddition: true,
  members: {
    endpoint: textMember(
      'Where logs are POSTed; `/v1/logs` is the path where it has none.',
      'Required. Where to POST logs: `https://…`, at most 2048 bytes, at a host that the gateway’s operator allows ' +
        '(`EVENT_WEBHOOK_HOSTS`). Without a path, `/v1/logs` is used.',
    ),
    headers,
    compression: textMember(
      'How requests are compressed: `gzip` or `none`.',
      'How to compress requests: `gzip` or `none`; `none` when left out.',
    ),
    resourceAttributes,
  },
  errors,
  check(given, path, rules) {
    const { endpoint, compression, headers, resourceAttributes } = checkTargetMembers({
      endpoint() {
        const member = `${path}.endpoint`;
        const url = requireText(given.endpoint, member, URL_MAX_BYTES);
        const allowed = isUrlAllowed(url, rules);
        if (allowed !== true) throw new TargetError(errors.otlpEndpointForbidden, { member, reason: allowed });
        return url;
      },
      compression() {
        const chosen = given.compression || 'none';
        if (chosen === 'gzip' || chosen === 'none') return chosen;
        throw new TargetError(errors.otlpCompression, { member: `${path}.compression` });
      },
      headers: () => checkHeaderFields(given.headers ?? [], `${path}.headers`),
      resourceAttributes: () => checkAttributes(given.resourceAttributes ?? [], `${path}.resourceAttributes`),
    });
    return { endpoint, headers, compression, resourceAttributes };
  },
  recipient: ({ endpoint }) => endpoint,
  open: (target, context) => otlpSink(target, context),
};

function checkAttributes(given: readonly TargetHeaderFieldInput[], path: string): OtlpTarget['resourceAttributes'] {
  if (given.length > ATTRIBUTES_MAX)
    throw new TargetError(errors.tooManyAttributes, { member: path, max: ATTRIBUTES_MAX });
  const names = new Set<string>();
  return checkTargetEntries(given, (attribute, index) => {
    const member = `${path}[${index}]`;
    const name = requireText(attribute.name, `${member}.name`, ATTRIBUTE_NAME_MAX_BYTES);
    if (names.has(name)) throw new TargetError(errors.attributeRepeated, { member: `${member}.name` });
    names.add(name);
    return { name, value: requireText(attribute.value, `${member}.value`, ATTRIBUTE_VALUE_MAX_BYTES) };
  });
}

const DEFAULT_PATH = '/v1/logs';
const SCOPE = 'tunnel-gateway';
/** Far below the default limit of a collector (20 MiB), so that a request takes little memory on both sides. */
const REQUEST_BYTES = 4 * 1024 * 1024;
const RECORD_BYTES = 1024 * 1024;
const NANOSECONDS_PER_MS = '000000';
/** The only statuses that may be retried. https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes */
const RETRYABLE = new Set([429, 502, 503, 504]);
const TOO_LARGE = 413;

const compress = promisify(gzip);

/** @throws {SinkError} when the operator does not allow its host, or a header field has no value. */
export async function otlpSink(target: OtlpTarget, { settings, outbound, accountId, now }: SinkContext): Promise<Sink> {
  const allowed = isUrlAllowed(target.endpoint, settings);
  if (allowed !== true) throw new SinkError('config', { code: 'FORBIDDEN_HOST', message: `the endpoint ${allowed}` });
  if (target.headers.some(({ value }) => value === null))
    throw new SinkError('config', { code: 'NoHeaderValue', message: 'a header field of the target has no value' });
  const url = new URL(target.endpoint);
  if (url.pathname === '/') url.pathname = DEFAULT_PATH;
  const isCompressed = target.compression === 'gzip';
  const headers = {
    ...Object.fromEntries(target.headers.map(({ name, value }) => [name, value ?? ''])),
    'content-type': 'application/json',
    ...(isCompressed && { 'content-encoding': 'gzip' }),
  };
  const [opening, closing] = envelopeOf(target);

  return {
    limits: { records: 1000, bytes: REQUEST_BYTES - Buffer.byteLength(opening + closing), recordBytes: RECORD_BYTES },
    sizeOf: (event) => Buffer.byteLength(recordOf(event, accountId, now())) + 1,
    async put(events, signal) {
      const records = events.map((event) => recordOf(event, accountId, now()));
      const text = Buffer.from(opening + records.join(',') + closing);
      const body = isCompressed ? await compress(text, { level: constants.Z_BEST_SPEED }) : text;
      const response = await post(url, { headers, body, agents: outbound.allowedHosts }, signal);
      return rejectionsOf(response, events.length, now());
    },
    close() {},
  };
}

/** The text before and after the log records of a request (`ExportLogsServiceRequest`). */
function envelopeOf({ resourceAttributes }: OtlpTarget): [opening: string, closing: string] {
  const given = resourceAttributes.map(({ name, value }) => attribute(name, value));
  const isNamed = resourceAttributes.some(({ name }) => name === 'service.name');
  const attributes = isNamed ? given : [attribute('service.name', SCOPE), ...given];
  const resource = JSON.stringify({ attributes });
  const scope = JSON.stringify({ name: SCOPE });
  return [`{"resourceLogs":[{"resource":${resource},"scopeLogs":[{"scope":${scope},"logRecords":[`, ']}]}]}'];
}

/**
 * A `LogRecord` in the JSON mapping of Protocol Buffers: 64-bit integers are texts. `log.record.uid` is the same each time
 * that the event is delivered, so that a receiver can tell duplicates apart.
 * @param observedAt the wall clock, in milliseconds.
 */
function recordOf({ id, type, at, text }: WrittenEvent, accountId: string, observedAt: number): string {
  return JSON.stringify({
    timeUnixNano: `${at}${NANOSECONDS_PER_MS}`,
    observedTimeUnixNano: `${Math.floor(observedAt)}${NANOSECONDS_PER_MS}`,
    severityNumber: 9,
    severityText: 'INFO',
    eventName: type,
    body: { stringValue: text },
    attributes: [
      attribute('log.record.uid', id),
      attribute('event.name', type),
      attribute('tunnel_gateway.account.id', accountId),
    ],
  });
}

function attribute(key: string, value: string) {
  return { key, value: { stringValue: value } };
}

/**
 * Reads the response to a request. The text of an error is not shown to tenants, because it may come from a service that is not
 * theirs.
 * @throws {SinkError} when the events may be sent again, all at once or in parts.
 */
function rejectionsOf(response: PostResponse, count: number, now: number): PutRejection[] {
  const { status, headers } = response;
  if (status >= 200 && status < 300) return partialRejections(response.text, count);
  const reason = responseReason(status, '');
  if (RETRYABLE.has(status)) throw new SinkError('retry', reason, retryAfterOf(headers, now));
  // The halves of the request may be small enough.
  if (status === TOO_LARGE) throw new SinkError('split', reason);
  return refuseAll(count, reason);
}

/**
 * The records that a receiver rejected although it accepted the request. It says how many, not which; they must not be sent again.
 * https://opentelemetry.io/docs/specs/otlp/#partial-success-1
 */
function partialRejections(text: string, count: number): PutRejection[] {
  const { rejectedLogRecords, errorMessage } = partialSuccessIn(text);
  const rejected = Math.min(Number(rejectedLogRecords ?? 0), count);
  if (!(rejected > 0)) return []; // A message without rejections is a warning.
  const message = toShortLine(typeof errorMessage === 'string' ? errorMessage : '') || 'the receiver gave no reason';
  const reason = { code: 'PartialSuccess', message };
  return rejected === count ? refuseAll(count, reason) : [{ fate: 'unnamed', count: rejected, ...reason }];
}

function refuseAll(count: number, reason: { code: string; message: string }): PutRejection[] {
  return Array.from({ length: count }, (_, index) => ({ index, fate: 'refused', ...reason }));
}

function partialSuccessIn(text: string): { rejectedLogRecords?: unknown; errorMessage?: unknown } {
  try {
    const { partialSuccess } = (JSON.parse(text) ?? {}) as { partialSuccess?: object | null };
    return partialSuccess ?? {};
  } catch {
    return {}; // An unreadable body of a successful response rejects nothing.
  }
}
