// The answer that leads to the same target at another origin.

import type { RequestHead } from './request-head.ts';

/** Temporary, as what serves a name may change. */
export const REDIRECTION = 307;

/**
 * A 307, which keeps method and body.
 * @param origin such as `https://example.com:8443`.
 */
export function redirection(origin: string, { bytes, line }: RequestHead, closes: boolean): Buffer {
  const target = bytes.toString('latin1', line.targetStart, line.targetEnd);
  return Buffer.from(
    [
      `HTTP/1.1 ${REDIRECTION} Temporary Redirect`,
      `Date: ${new Date().toUTCString()}`,
      `Location: ${origin}${target.startsWith('/') ? '' : '/'}${target === '*' ? '' : target}`,
      'Content-Length: 0',
      'Cache-Control: no-store',
      `Connection: ${closes ? 'close' : 'keep-alive'}`,
      '\r\n',
    ].join('\r\n'),
    'latin1',
  );
}
