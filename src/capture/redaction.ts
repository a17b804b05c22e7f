// Redaction of captured requests. Some header fields are hidden from everybody and kept only for replays. Others, and the values of
// queries, may hold credentials of visitors, as bodies do: they are shown to who may read bodies.

import { withoutQueryValues } from '../http/path.ts';
import type { FieldPairs, RequestCapture } from './captured-request.ts';

/** The names, in lower case, of the fields that are always redacted. */
export const ALWAYS_REDACTED: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
];

/** In the names of fields that usually hold credentials: `X-Auth-Token`, `Ocp-Apim-Subscription-Key`, `X-Amz-Security-Token`. */
const CREDENTIAL = /token|secret|key|auth|session|cookie|passw|credential|signature|jwt|assertion|otp/i;
/** These match, and hold none. */
const NO_CREDENTIAL =
  /^(?:www-authenticate|proxy-authenticate|sec-websocket-(?:key|accept)|idempotency-key|surrogate-key)$/i;
/** Fields that hold URLs: those of log-ins have credentials in their queries, fragments or user names. */
const URL_FIELD = /^(?:referer|location|content-location|link|refresh|.*-(?:url|uri))$/i;

/** A header field as it may be shown. */
export interface ShownField {
  name: string;
  /** The value; '' when it is redacted, and a URL without what may be secret. */
  value: string;
  isRedacted: boolean;
}

/** The names of all fields that are redacted for everybody. @param names further names, in any case. */
export function redactedNames(names: readonly string[]): ReadonlySet<string> {
  return new Set([...ALWAYS_REDACTED, ...names.map((name) => name.toLowerCase())]);
}

/**
 * The fields without the values of the redacted ones.
 * @param mayReadBodies whether the reader may see what visitors' bodies hold, and so their credentials.
 */
export function redactedFields(
  fields: FieldPairs,
  redacted: RequestCapture['redacted'],
  mayReadBodies: boolean,
): ShownField[] {
  return fields.map(([name, value]) => {
    const shown = redacted.has(name.toLowerCase()) ? '' : mayReadBodies ? value : withoutCredentials(name, value);
    return { name, value: shown, isRedacted: shown !== value || redacted.has(name.toLowerCase()) };
  });
}

function withoutCredentials(name: string, value: string): string {
  if (CREDENTIAL.test(name) && !NO_CREDENTIAL.test(name)) return '';
  if (!URL_FIELD.test(name)) return value;
  return withoutQueryValues(value.replace(/\/\/[^/?#@\s]*@/g, '//').replace(/#[^>\s]*/g, ''));
}
