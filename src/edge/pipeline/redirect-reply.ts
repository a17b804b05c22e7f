// The answer that leads to the same target at another origin.

import type { RequestHead } from '../codec/request-head.ts';
import type { LocalReply } from './pipeline-response.ts';

/** Temporary, as what serves a name may change. */
const REDIRECTION = 307;

/**
 * A 307, which keeps method and body.
 * @param origin such as `https://example.com:8443`.
 */
export function redirectReply(origin: string, { bytes, line }: RequestHead): LocalReply {
  const target = bytes.toString('latin1', line.targetStart, line.targetEnd);
  const location = `${origin}${target.startsWith('/') ? '' : '/'}${target === '*' ? '' : target}`;
  return {
    status: REDIRECTION,
    fields: [
      ['Location', location],
      ['Content-Length', '0'],
      ['Cache-Control', 'no-store'],
    ],
    body: Buffer.alloc(0),
  };
}
