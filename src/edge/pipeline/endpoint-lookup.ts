// The endpoint of a request, and the response where there is none.

import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { RequestHead } from '../codec/request-head.ts';
import type { ListenerContext } from './listener-context.ts';
import type { LocalReply } from './pipeline-response.ts';
import type { PipelineStep } from './pipeline-step.ts';

/** Temporary, as what serves a name may change; it keeps method and body. */
const REDIRECTION = 307;

/** The endpoint that a request is for. */
export function endpointOf(
  listener: ListenerContext,
  { line, hostname }: RequestHead,
): LiveEndpoint | 'misdirected' | undefined {
  const isOtherScheme = line.authorityEnd > 0 && line.isHttps !== (listener.scheme === 'https');
  return isOtherScheme ? 'misdirected' : listener.find(hostname);
}

/** What becomes of a request whose endpoint is not known here: other nodes may have it. Never rejects. */
export function stepWithoutEndpoint(
  listener: ListenerContext,
  head: RequestHead,
): PipelineStep | Promise<PipelineStep> {
  const redirectTo = (origin: string): PipelineStep => ({ kind: 'answer', answer: redirectReply(origin, head) });
  const origin = listener.redirect?.(head.hostname);
  if (origin !== undefined) return redirectTo(origin);
  return listener.resolve(head.hostname).then(
    (found) => {
      if (typeof found === 'object')
        return 'origin' in found ? redirectTo(found.origin) : { kind: 'visit', endpoint: found };
      return { kind: 'fail', error: found === 'unknown' ? 'unknownName' : found, fields: [] };
    },
    () => ({ kind: 'fail', error: 'unavailable', fields: [] }),
  );
}

/** The response that leads to the same target at another origin. @param origin such as `https://example.com:8443`. */
function redirectReply(origin: string, { bytes, line }: RequestHead): LocalReply {
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
