// The endpoint of a request, and the response where there is none.

import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { challengeToken } from '../acme-challenges.ts';
import type { RequestHead } from '../codec/request-head.ts';
import type { ListenerContext } from './listener-context.ts';
import type { LocalReply } from './pipeline-response.ts';
import type { PipelineStep } from './pipeline-step.ts';

const NO_CHALLENGE: PipelineStep = { kind: 'fail', error: 'noChallenge', fields: [] };

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

/** What visitors are told of a name that nothing serves. */
const ABSENT = {
  unknown: 'unknownName',
  offline: 'offline',
  covered: 'offline',
  beneath: 'offline',
  elsewhere: 'elsewhere',
  misdirected: 'misdirected',
} as const;

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
      return { kind: 'fail', error: ABSENT[found], fields: [] };
    },
    () => ({ kind: 'fail', error: 'unavailable', fields: [] }),
  );
}

/**
 * What becomes of a request in which a certificate authority may look for its challenge (RFC 8555, section 8.3): neither redirects nor
 * modules nor policies are in the way of one that is expected. Another one goes to the service of the account whose the name is, and
 * to no other. Never rejects.
 * @returns undefined for all other requests.
 */
export function challengeStep(listener: ListenerContext, head: RequestHead): Promise<PipelineStep> | undefined {
  const { challenges } = listener;
  const token = challenges && challengeToken(head);
  if (token === undefined) return undefined;
  return challenges?.answer({ kind: 'http-01', name: head.hostname, token }).then(
    async (found): Promise<PipelineStep> => {
      if ('value' in found) return { kind: 'answer', answer: challengeReply(found.value) };
      if (found.holder === undefined) return NO_CHALLENGE;
      const endpoint = endpointOf(listener, head);
      if (endpoint === 'misdirected') return { kind: 'fail', error: endpoint, fields: [] };
      const step: PipelineStep = endpoint ? { kind: 'visit', endpoint } : await stepWithoutEndpoint(listener, head);
      return step.kind === 'visit' && step.endpoint.accountId !== found.holder ? NO_CHALLENGE : step;
    },
    () => ({ kind: 'fail', error: 'unavailable', fields: [] }),
  );
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
