// HTTP response backends: the gateway answers every request itself, always alike.

import { lockBackends } from '../../../store/edges/backend-graph.ts';
import type { StoredResponse } from '../../../store/edges/backend-nodes.ts';
import type { Prisma } from '../../../store/generated/prisma/client.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { NOTED_MEMBERS, textIn } from '../../collections/members.ts';
import { rowFields } from '../../collections/notes.ts';
import { resource } from '../../collections/resource.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';
import { checkAddedHeaders } from '../../modules/headers.ts';
import { Backend } from '../../modules/interfaces.ts';
import { searchByNotes } from '../../resource.ts';
import { checkBytes } from '../../text-limits.ts';
import { checkBackendGraph, NO_LABELS } from './backend-members.ts';

/** A request to the API has 64 KiB at most, and JSON may need two bytes for one. */
const BODY_MAX = 32_768;
/** Statuses of 1xx are no final response (RFC 9110, section 15.2). */
const STATUS = { min: 200, max: 599 };
const NO_BODY = new Set([204, 304]);
const OF_KIND = { kind: 'HTTP_RESPONSE' } as const;

const responseOf = ({ response }: { response: unknown }) => response as StoredResponse;
const select = { response: true } as const;

const ROW = { prefix: 'bkdhr', path: '/backends/http_response' };

const HttpResponseBackend = builder.prismaObject('Backend', {
  variant: 'HttpResponseBackend',
  description:
    'A response that the gateway gives to every request by itself, always the same, such as a page that says that a shop is ' +
    'closed. It is always online. Only routes of HTTPS edges can use it.',
  interfaces: [Node, Backend],
  fields: (t) => ({
    ...rowFields(t, ROW),
    body: t.string({ description: 'The body of the response.', select, resolve: (row) => responseOf(row).body }),
    headers: t.field({
      type: 'Labels',
      description: 'The header fields of the response: values by names.',
      select,
      resolve: (row) => responseOf(row).headers,
    }),
    statusCode: t.int({ description: 'Its status.', select, resolve: (row) => responseOf(row).statusCode }),
  }),
});

const help = {
  body: `The body, in UTF-8: at most ${BODY_MAX} bytes; none with status 204 and 304.`,
  headers:
    'Values by the names of header fields, as in `{ "retry-after": "3600" }`: at most 50. A body without `content-type` is ' +
    '`text/plain; charset=utf-8`.',
  statusCode: `The status, ${STATUS.min} to ${STATUS.max}.`,
};

export const { routes } = resource({
  kind: 'httpResponseBackend',
  model: 'Backend',
  ...ROW,
  ref: HttpResponseBackend,
  listKey: 'backends',
  shows: 'id uri createdAt description metadata body headers statusCode',
  members: { ...NOTED_MEMBERS, body: textIn('response', 'body') },
  where: () => OF_KIND,
  audit: { name: 'http_response_backend', subject: 'An HTTP response backend' },
  conflicts: { inUse: 'backendInUse' },
  search: { ...searchByNotes(143, 'backend'), where: `t.kind = 'HTTP_RESPONSE'` },
  create: {
    description: 'Creates an HTTP response. Routes of HTTPS edges, and other backends, can send their traffic to it.',
    note: 'Every member may be left out.',
    input: (t) => ({
      body: t.string({ description: help.body }),
      headers: t.field({ type: 'Labels', description: help.headers }),
      statusCode: t.int({ description: `${help.statusCode} Default 200.` }),
    }),
    write: (input) => ({
      ...{ ...OF_KIND, labels: NO_LABELS },
      response: checkResponse({ statusCode: 200, headers: {}, body: '' }, input),
    }),
  },
  update: {
    description: 'Changes an HTTP response. The next request is answered with the new one.',
    input: (t) => ({
      body: t.string({ description: `${help.body} "" clears it.` }),
      headers: t.field({ type: 'Labels', description: `${help.headers} Replaces all of them.` }),
      statusCode: t.int({ description: help.statusCode }),
    }),
    write:
      (input, { accountId }, id) =>
      async (save, db) => {
        await lockBackends(db, accountId);
        const where = { id, accountId, ...OF_KIND };
        const before = requireFound(await db.backend.findUnique({ where, select }), 'HTTP response backend');
        const row = await save({ response: checkResponse(responseOf(before), input) });
        await checkBackendGraph(db, id, 'body');
        return row;
      },
  },
  remove: {
    description:
      'Deletes an HTTP response. Answers with its id; fails with `CONFLICT` while a route or another backend sends traffic to it.',
  },
});

/** What is given of a response. */
type Input = { [member in keyof StoredResponse]?: StoredResponse[member] | null };

/** The response with what is given of it. @throws {ApiError} when it cannot be sent. */
function checkResponse(before: StoredResponse, { body, headers, statusCode }: Input) {
  const response = {
    statusCode: statusCode ?? before.statusCode,
    headers: headers ?? before.headers,
    body: body ?? before.body,
  };
  checkAll({
    statusCode() {
      if (response.statusCode < STATUS.min || response.statusCode > STATUS.max)
        throw new ApiError('responseStatusRange', { member: 'statusCode', ...STATUS });
    },
    body() {
      checkBytes('body', response.body, BODY_MAX, 'responseBodyTooLarge');
      if (NO_BODY.has(response.statusCode) && response.body !== '')
        throw new ApiError('responseBodyRefused', { member: 'body', status: response.statusCode });
    },
    headers: () => headers && checkAddedHeaders('headers', headers, 'response'),
  });
  return response satisfies Prisma.InputJsonObject;
}
