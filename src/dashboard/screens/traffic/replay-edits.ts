// What a form says about a replay, as the API takes it.

import type { HeaderLineFragment, ReplayRequestInput } from '../../generated/operations.ts';
import { encodeBase64 } from './bytes.ts';
import type { Request } from './captured-request.ts';

export interface ReplayEdits {
  method: string;
  path: string;
  /** `name: value` each. */
  headers: readonly string[];
  body: string;
  /** Whether the body is sent as it was captured. */
  keepsBody: boolean;
}

/** Stands for a value that isn't shown, and is sent all the same. */
export const AS_CAPTURED = '(as captured)';

/** Host stays as it was; the others belong to one hop or one sending, and are made anew whatever is said. */
const REGENERATED_HEADERS =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|http2-settings|expect|content-length|forwarded|x-forwarded-.*|x-real-ip|gateway-mtls-.*)$/i;

export function initialEdits({ method, path, requestHeaders, requestBody: { isWhole, text } }: Request): ReplayEdits {
  const headers = requestHeaders.filter(({ name }) => !REGENERATED_HEADERS.test(name)).map(formatHeader);
  return { method, path, headers, body: text ?? '', keepsBody: isWhole };
}

/** Only what differs from what was captured. */
export function replayInput(
  request: Request,
  { method, path, headers, body, keepsBody }: ReplayEdits,
): ReplayRequestInput {
  const before = initialEdits(request);
  // The text of a compressed body isn't compressed any more.
  const isDecoded = !keepsBody && request.requestHeaders.some(({ name }) => /^content-encoding$/i.test(name));
  const sent = isDecoded ? headers.filter((line) => !/^content-encoding\s*:/i.test(line)) : headers;
  return {
    ...(method.trim() !== before.method && { method: method.trim() }),
    ...(path !== before.path && { path }),
    ...(sent.join('\n') !== before.headers.join('\n') && {
      headers: sent.filter((line) => line.trim()).map(parseHeader),
    }),
    ...(!keepsBody && { bodyBase64: encodeBase64(body) }),
  };
}

export function validateHeader(line: string): string | null {
  const [, name] = /^\s*([^:\s]+)\s*:/.exec(line) ?? [];
  if (name === undefined) return 'A header is written as name: value.';
  return REGENERATED_HEADERS.test(name) ? `${name} is made anew for each request; leave it out.` : null;
}

function formatHeader({ name, value, isRedacted }: HeaderLineFragment): string {
  return `${name}: ${isRedacted ? AS_CAPTURED : value}`;
}

function parseHeader(line: string): { name: string; value: string | null } {
  const [, name = '', value = ''] = /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
  return { name, value: value === AS_CAPTURED ? null : value };
}
