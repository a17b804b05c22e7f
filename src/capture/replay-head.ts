// The head of a replay: what was captured, with what is edited of it, and without what belongs to one hop or one sending.

import { type FieldPairs, firstValue, type RequestCapture } from './captured-request.ts';

/** What is different from what was captured; left out: as it was. */
export interface ReplayEdits {
  method?: string;
  /** With its query. */
  path?: string;
  /** All fields. One whose value is null has what was captured: the first of its name what the first had, and so on. */
  fields?: readonly (readonly [name: string, value: string | null])[];
  body?: Buffer;
}

/** Fields of one hop, of the way that was taken, of the framing of the body; the gateway makes its own of all of them. */
const LEFT_OUT =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|http2-settings|expect|content-length|forwarded|x-forwarded-.*|x-real-ip|gateway-mtls-.*|host)$/;

/**
 * The fields to be sent, without Host and the length of the body.
 * @returns the name of a field that was to be as it was captured, and was not.
 */
export function replayFields(captured: RequestCapture, edits: ReplayEdits): FieldPairs | string {
  const all = edits.fields ? filledIn(edits.fields, captured.requestFields) : captured.requestFields;
  if (typeof all === 'string') return all;
  const listed = (firstValue(captured.requestFields, 'connection') ?? '').toLowerCase().split(/[\s,]+/);
  const sent = all.filter(([name]) => {
    const lower = name.toLowerCase();
    return !LEFT_OUT.test(lower) && !listed.includes(lower);
  });
  return withOneCookie(sent);
}

function filledIn(
  fields: NonNullable<ReplayEdits['fields']>,
  before: FieldPairs,
): readonly (readonly [name: string, value: string])[] | string {
  const asked = new Map<string, number>();
  const all: (readonly [string, string])[] = [];
  for (const [name, value] of fields) {
    const lower = name.toLowerCase();
    const place = asked.get(lower) ?? 0;
    asked.set(lower, place + 1);
    const kept = value ?? before.filter((field) => field[0].toLowerCase() === lower)[place]?.[1];
    if (kept === undefined) return name;
    all.push([name, kept]);
  }
  return all;
}

/** HTTP/2 sends cookies in as many fields as it likes, HTTP/1.1 in one (RFC 9113, section 8.2.3). */
function withOneCookie(fields: FieldPairs): FieldPairs {
  const isCookie = ([name]: FieldPairs[number]) => name.toLowerCase() === 'cookie';
  const cookies = fields.filter(isCookie).map(([, value]) => value);
  if (cookies.length < 2) return fields;
  return [...fields.filter((field) => !isCookie(field)), ['cookie', cookies.join('; ')]];
}
