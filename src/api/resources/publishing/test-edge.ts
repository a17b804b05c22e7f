// A test request to an edge, by the gateway itself. In GraphQL only.

import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { EdgeVisitResult } from '../../../capture/edge-visit.ts';
import { builder } from '../../builder/builder.ts';
import { mutation } from '../../collections/mutation.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import type { Route } from '../../route.ts';

/** How often an account may test a minute: each is a request to one of its devices. */
const TESTS_PER_MINUTE_MAX = 30;
const MINUTE_SECONDS = 60;
const PATH_MAX_BYTES = 1024;

const limiter = new RateLimiterMemory({ points: TESTS_PER_MINUTE_MAX, duration: MINUTE_SECONDS });

interface Tested extends EdgeVisitResult {
  host: string;
}

const EdgeTest = builder.objectRef<Tested>('EdgeTest').implement({
  description: 'What came of a test of an edge.',
  fields: (t) => ({
    ok: t.boolean({
      description: 'Whether a tunnel answered: for HTTPS with a status below 500, for TLS by ending the handshake.',
      resolve: ({ reason, status }) => reason === null && (status ?? 0) < 500,
    }),
    host: t.exposeString('host', { description: 'The name that was visited.' }),
    status: t.exposeInt('status', {
      nullable: true,
      description: 'The status of the response; null when none came, and for a TLS edge.',
    }),
    durationMs: t.exposeFloat('durationMs', {
      description: 'Until the head of the response, or the end of the handshake; milliseconds.',
    }),
    errorCode: t.exposeString('errorCode', {
      nullable: true,
      description: 'The code of the gateway, where it answered in place of a tunnel: `ERR_GATEWAY_…`.',
    }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'Why no tunnel answered; null when one did.',
    }),
  }),
});

mutation('testEdge', { gives: ['test', 'What became of the request.'] }, (t) =>
  t.field({
    type: EdgeTest,
    nullable: true,
    access: { kind: null },
    callsExternalService: true,
    description:
      'Visits an edge of your account, as a visitor would, from the gateway to its own listener: a GET of an HTTPS edge, a ' +
      'TLS handshake with what serves a TLS edge. Modules and policies apply, and the request is logged as any other. What ' +
      'the tunnel answers is not read but its status. DNS is not asked. At most thirty times a minute; it takes 15 s at most.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of an HTTPS edge or a TLS edge.' }),
      path: t.arg.string({ description: 'The path of the request to an HTTPS edge; `/` when left out.' }),
      ...idempotencyKeyArgument,
    },
    resolve: async (_, { id, path }, context): Promise<Tested> => {
      const { accountId, app, db } = context;
      const target = checkPath(path ?? '/');
      const select = { kind: true, hostports: { select: { hostport: true }, orderBy: { position: 'asc' } } } as const;
      const edge = requireFound(await db.edge.findUnique({ where: { id, accountId }, select }), 'edge');
      const [first] = edge.hostports;
      if (!first) throw new ApiError('edgeWithoutName');
      await limiter.consume(accountId).catch(({ msBeforeNext }: RateLimiterRes) => {
        throw new ApiError('tooManyEdgeTests', {
          limit: TESTS_PER_MINUTE_MAX,
          seconds: Math.ceil(msBeforeNext / 1000),
        });
      });
      // Of a wildcard, any name below it.
      const host = first.hostport.replace(/:\d+$/, '').replace(/^\*/, 'test');
      const visit = { host, path: edge.kind === 'HTTPS' ? target : null };
      const result = await app.nodeCaptures().visitEdge(visit);
      const kind = edge.kind === 'HTTPS' ? 'httpsEdge' : 'tlsEdge';
      const after = { path: visit.path?.replace(/\?.*/s, '') ?? null, outcome: result.status ?? result.reason };
      await context.record({ action: 'TESTED', kind, objectId: id, objectName: host, after });
      return { ...result, host };
    },
  }),
);

function checkPath(path: string): string {
  if (!/^\/[\x21-\x7e]*$/.test(path) || path.length > PATH_MAX_BYTES || path.includes('#'))
    throw new ApiError('edgeTestPath', { member: 'path', max: PATH_MAX_BYTES });
  return path;
}

/** There is no REST path for it. */
export const routes: Route[] = [];
