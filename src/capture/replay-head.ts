// The head of a replay: the captured fields with the edits, without hop-by-hop fields and fields of the original connection.

import { type FieldPairs, firstValue, type RequestCapture } from './captured-request.ts';

/** The changes of a replay. A member that is left out stays as captured. */
export interface ReplayEdits {
  method?: string;
  /** The path with its query. */
  path?: string;
  /** All fields. A null stands for the captured value of that name: the first null for the first value, and so on. */
  fields?: readonly (readonly [name: string, value: string | null])[];
  body?: Buffer;
}

/** Hop-by-hop fields, forwarding fields and the framing of the body. The gateway sets its own. */
const EXCLUDED_FIELDS =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|http2-settings|expect|content-length|forwarded|x-forwarded-.*|x-real-ip|gateway-(?:auth|mtls)-.*|host)$/;

/**
 * The fields of the replay, without Host and Content-Length.
 * @returns the fields; or the name of a field with a null that has no captured value.
 */
export function replayFields(captured: RequestCapture, edits: ReplayEdits): FieldPairs | string {
  const all = edits.fields ? withCapturedValues(edits.fields, captured.requestFields) : captured.requestFields;
  if (typeof all === 'string') return all;
  const hopByHop = (firstValue(captured.requestFields, 'connection') ?? '').toLowerCase().split(/[\s,]+/);
  const sent = all.filter(([name]) => {
    const lower = name.toLowerCase();
    return !EXCLUDED_FIELDS.test(lower) && !hopByHop.includes(lower);
  });
  return withOneCookie(sent);
}

function withCapturedValues(
  fields: NonNullable<ReplayEdits['fields']>,
  captured: FieldPairs,
): readonly (readonly [name: string, value: string])[] | string {
  const positions = new Map<string, number>();
  const all: (readonly [string, string])[] = [];
  for (const [name, value] of fields) {
    const lower = name.toLowerCase();
    const position = positions.get(lower) ?? 0;
    positions.set(lower, position + 1);
    const text = value ?? captured.filter((field) => field[0].toLowerCase() === lower)[position]?.[1];
    if (text === undefined) return name;
    all.push([name, text]);
  }
  return all;
}

/** Joins cookie fields: HTTP/2 allows several, HTTP/1.1 only one (RFC 9113, section 8.2.3). */
function withOneCookie(fields: FieldPairs): FieldPairs {
  const isCookie = ([name]: FieldPairs[number]) => name.toLowerCase() === 'cookie';
  const cookies = fields.filter(isCookie).map(([, value]) => value);
  if (cookies.length < 2) return fields;
  return [...fields.filter((field) => !isCookie(field)), ['cookie', cookies.join('; ')]];
}
