// Conversion of the replay form to the input of the API.

import type { HeaderLineFragment, ReplayRequestInput } from '../../generated/operations.ts';
import { encodeBase64, headerBytes, headerText } from './bytes.ts';
import type { Request } from './captured-request.ts';

export interface ReplayEdits {
  method: string;
  path: string;
  /** Lines of `name: value`. */
  headers: readonly string[];
  body: string;
  /** Whether the captured body is sent unchanged. */
  keepsBody: boolean;
}

/** Stands in for a redacted value, which is sent although it is not shown. */
export const AS_CAPTURED = '(as captured)';

/** Header fields that cannot be edited: Host stays, and the gateway generates the others for each request. */
const REGENERATED_HEADERS =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|http2-settings|expect|content-length|forwarded|x-forwarded-.*|x-real-ip|gateway-(?:auth|mtls)-.*)$/i;

export function initialEdits({ method, path, requestHeaders, requestBody: { isWhole, text } }: Request): ReplayEdits {
  const headers = requestHeaders.filter(({ name }) => !REGENERATED_HEADERS.test(name)).map(formatHeader);
  return { method, path, headers, body: text ?? '', keepsBody: isWhole };
}

/** The input, with only what differs from the captured request. */
export function replayInput(
  request: Request,
  { method, path, headers, body, keepsBody }: ReplayEdits,
): ReplayRequestInput {
  const before = initialEdits(request);
  // The edited text of a compressed body is sent uncompressed.
  const isDecoded = !keepsBody && request.requestHeaders.some(({ name }) => /^content-encoding$/i.test(name));
  const sent = isDecoded ? headers.filter((line) => !/^content-encoding\s*:/i.test(line)) : headers;
  return {
    ...(method.trim() !== before.method && { method: method.trim() }),
    ...(path !== before.path && { path }),
    ...(sent.join('\n') !== before.headers.join('\n') && {
      headers: sent.filter((line) => line.trim()).map((line) => parseHeader(line, request.requestHeaders)),
    }),
    ...(!keepsBody && { bodyBase64: encodeBase64(body) }),
  };
}

export function validateHeader(line: string): string | null {
  const [, name] = /^\s*([^:\s]+)\s*:/.exec(line) ?? [];
  if (name === undefined) return 'A header is written as name: value.';
  if (!/^[!#$%&'*+\-.^`|~\w]+$/.test(name)) return `${name} can’t be the name of a header.`;
  if (/[^\t\P{Cc}]/u.test(line)) return `The value of ${name} must be one line without control characters.`;
  return REGENERATED_HEADERS.test(name) ? `${name} is made anew for each request; leave it out.` : null;
}

function formatHeader({ name, value, isRedacted }: HeaderLineFragment): string {
  return `${name}: ${isRedacted ? AS_CAPTURED : headerText(value)}`;
}

/** A line that nobody edited has the bytes that came, which need not be UTF-8. */
function parseHeader(line: string, captured: readonly HeaderLineFragment[]): { name: string; value: string | null } {
  const same = captured.find((header) => !header.isRedacted && formatHeader(header) === line);
  if (same) return { name: same.name, value: same.value };
  const [, name = '', value = ''] = /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
  return { name, value: value === AS_CAPTURED ? null : headerBytes(value) };
}
