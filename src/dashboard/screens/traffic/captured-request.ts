import type { CapturedRequestQuery } from '../../generated/operations.ts';
import { curlCommand } from '../requests/curl.ts';

/** A captured request with its response. */
export type Request = NonNullable<CapturedRequestQuery['capturedRequest']>;

/** It as a command: without the fields whose values are secret, and with the body where it is a whole text that may be shown. */
export function curlOf({ method, url, requestHeaders, requestBody: { bytes, isWhole, text } }: Request): string {
  const headers = requestHeaders
    .filter(({ isRedacted }) => !isRedacted)
    .map(({ name, value }) => [name, value] as const);
  return curlCommand({ method, url, headers, body: bytes > 0 && isWhole && text != null ? text : undefined });
}
