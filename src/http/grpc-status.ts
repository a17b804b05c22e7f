// How gRPC is told of the gateway's own errors (gRPC over HTTP/2, "Responses"): by a status and a message in the only HEADERS frame
// of an answer, whose HTTP status is 200.

import { type VisitorError, visitorErrors } from './visitor-errors.ts';

type Fields = readonly (readonly [name: string, value: string])[];

/** The statuses of gRPC that stand for those of HTTP, as Envoy has them; others are UNKNOWN. */
const STATUSES: ReadonlyMap<number, number> = new Map([
  [400, 13], // INTERNAL
  [401, 16], // UNAUTHENTICATED
  [403, 7], // PERMISSION_DENIED
  [404, 12], // UNIMPLEMENTED
  [429, 14], // UNAVAILABLE: it may be tried again
  [502, 14],
  [503, 14],
  [504, 14],
]);
const UNKNOWN = 2;

/** Of fields that the answer to a page would have, those that say something of gRPC, too. */
const PLAIN = /^(?:content-type|content-length|cache-control|x-content-type-options|content-security-policy)$/i;

/** Whether a message with this `Content-Type` is gRPC's: not of gRPC-Web, which looks at the HTTP status. */
export function isGrpc(contentType: unknown): boolean {
  return typeof contentType === 'string' && /^application\/grpc(?:$|[+;\s])/i.test(contentType);
}

/**
 * The fields of the answer that tells a client of gRPC of an error.
 * @param fields those that other clients get. @param detail a sentence that the message has besides.
 */
export function grpcErrorFields(error: VisitorError, fields: Fields, detail: string): Fields {
  const { number, status, text } = visitorErrors[error];
  return [
    ['Content-Type', 'application/grpc'],
    ['Grpc-Status', String(STATUSES.get(status) ?? UNKNOWN)],
    ['Grpc-Message', percentEncoded(`ERR_GATEWAY_${number}: ${text} ${detail}`.trimEnd())],
    ...fields.filter(([name]) => !PLAIN.test(name)),
  ];
}

/** All but printable ASCII without the percent sign is escaped, as UTF-8. */
function percentEncoded(message: string): string {
  return message.replace(/[^ -$&-~]+/g, (text) =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}
