// The endpoint of a request, and the response where there is none.

import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { challengeToken } from '../acme-challenges.ts';
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

/**
 * What becomes of a request in which a certificate authority may look for its challenge (RFC 8555, section 8.3): neither redirects nor
 * modules nor policies are in its way. Where none is expected, the request goes where it is for. Never rejects.
 * @returns undefined for all other requests.
 */
export function challengeStep(listener: ListenerContext, head: RequestHead): Promise<PipelineStep> | undefined {
  const token = listener.challenges && challengeToken(head);
  if (token === undefined) return undefined;
  return listener.challenges?.find({ kind: 'http-01', name: head.hostname, token }).then((value) => {
    if (value !== undefined) return { kind: 'answer', answer: challengeReply(value) };
    const endpoint = endpointOf(listener, head);
    if (endpoint === 'misdirected') return { kind: 'fail', error: endpoint, fields: [] };
    return endpoint ? { kind: 'visit', endpoint } : stepWithoutEndpoint(listener, head);
  });
}

/** @param value the key authorization. */
function challengeReply(value: string): LocalReply {
  const body = Buffer.from(value);
  return {
    status: 200,
    fields: [
      ['Content-Type', 'application/octet-stream'],
      ['Content-Length', String(body.length)],
      ['Cache-Control', 'no-store'],
    ],
    body,
  };
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
