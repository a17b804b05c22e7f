// HTTP response backends: the gateway answers every request itself, always alike.

import { lockBackends } from '../../../store/edges/backend-graph.ts';
import type { StoredResponse } from '../../../store/edges/backend-nodes.ts';
import type { Prisma } from '../../../store/generated/prisma/client.ts';
import { newId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../../collections/collection.ts';
import { NOTED_MEMBERS, textIn } from '../../collections/members.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { checkAddedHeaders } from '../../modules/headers.ts';
import { searchByNotes } from '../../resource.ts';
import { route } from '../../route.ts';
import { checkBytes, checkTexts } from '../../text-limits.ts';
import { checkBackendGraph, NO_LABELS } from './backend-members.ts';

/** A request to the API has 64 KiB at most, and JSON may need two bytes for one. */
const BODY_MAX = 32_768;
/** Statuses of 1xx are no final response (RFC 9110, section 15.2). */
const STATUS = { min: 200, max: 599 };
const NO_BODY = new Set([204, 304]);
const OF_KIND = { kind: 'HTTP_RESPONSE' } as const;

const responseOf = ({ response }: { response: unknown }) => response as StoredResponse;
const select = { response: true } as const;

const HttpResponseBackend = builder.prismaObject('Backend', {
  variant: 'HttpResponseBackend',
  description:
    'A response that the gateway gives to every request by itself, always the same, such as a page that says that a shop is ' +
    'closed. It is always online. Only routes of HTTPS edges can use it.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `bkdhr_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/backends/http_response/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    description: t.exposeString('description', { description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
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

const httpResponseBackends = collection({
  kind: 'httpResponseBackend',
  prefix: 'bkdhr',
  path: '/backends/http_response',
  single: 'httpResponseBackend',
  plural: 'httpResponseBackends',
  typeName: 'HttpResponseBackend',
  ref: HttpResponseBackend,
  members: { ...NOTED_MEMBERS, body: textIn('response', 'body') },
  table: (db) => db.backend,
  where: () => OF_KIND,
  audit: { name: 'http_response_backend', subject: 'An HTTP response backend' },
  conflicts: { inUse: 'backendInUse' },
  search: { ...searchByNotes(143, 'backend'), where: `t.kind = 'HTTP_RESPONSE'` },
});

const help = {
  body: `The body, in UTF-8: at most ${BODY_MAX} bytes; none with status 204 and 304.`,
  headers:
    'Values by the names of header fields, as in `{ "retry-after": "3600" }`: at most 50. A body without `content-type` is ' +
    '`text/plain; charset=utf-8`.',
  statusCode: `The status, ${STATUS.min} to ${STATUS.max}.`,
};

const CreateHttpResponseBackendInput = builder.inputType('CreateHttpResponseBackendInput', {
  description: 'A new HTTP response backend. Every member may be left out.',
  fields: (t) => ({
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
    body: t.string({ description: help.body }),
    headers: t.field({ type: 'Labels', description: help.headers }),
    statusCode: t.int({ description: `${help.statusCode} Default 200.` }),
  }),
});

const UpdateHttpResponseBackendInput = builder.inputType('UpdateHttpResponseBackendInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
    body: t.string({ description: `${help.body} "" clears it.` }),
    headers: t.field({ type: 'Labels', description: `${help.headers} Replaces all of them.` }),
    statusCode: t.int({ description: help.statusCode }),
  }),
});

builder.mutationField('createHttpResponseBackend', (t) =>
  t.prismaField({
    type: HttpResponseBackend,
    nullable: true,
    access: { kind: 'httpResponseBackend' },
    description: 'Creates an HTTP response. Routes of HTTPS edges, and other backends, can send their traffic to it.',
    args: {
      input: t.arg({ type: CreateHttpResponseBackendInput, required: true, description: 'The HTTP response backend.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => {
      const id = newId(httpResponseBackends.prefix);
      const response = checkResponse({ statusCode: 200, headers: {}, body: '' }, input);
      const own = { id, accountId: context.accountId, labels: NO_LABELS, response };
      const data = { ...checkTexts(input), ...OF_KIND, ...own };
      return context.create(httpResponseBackends, (db) => db.backend.create({ ...query, data }));
    },
  }),
);

builder.mutationField('updateHttpResponseBackend', (t) =>
  t.prismaField({
    type: HttpResponseBackend,
    nullable: true,
    access: { kind: 'httpResponseBackend' },
    description: 'Changes an HTTP response. The next request is answered with the new one.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the HTTP response backend.' }),
      input: t.arg({ type: UpdateHttpResponseBackendInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId, ...OF_KIND };
      const texts = checkTexts(input);
      return context.update(httpResponseBackends, id, async (db) => {
        await lockBackends(db, context.accountId);
        const before = requireFound(await db.backend.findUnique({ where, select }), 'HTTP response backend');
        const response = checkResponse(responseOf(before), input);
        const row = await db.backend.update({ ...query, where, data: { ...texts, response } });
        await checkBackendGraph(db, id, 'body');
        return row;
      });
    },
  }),
);

deleteMutation(httpResponseBackends, 'deleteHttpResponseBackend', {
  description:
    'Deletes an HTTP response. Answers with its id; fails with `CONFLICT` while a route or another backend sends traffic to it.',
});

type Input = typeof UpdateHttpResponseBackendInput.$inferInput;

/** The response with what is given of it. @throws {ApiError} when it cannot be sent. */
function checkResponse(before: StoredResponse, { body, headers, statusCode }: Input) {
  const response = {
    statusCode: statusCode ?? before.statusCode,
    headers: headers ?? before.headers,
    body: body ?? before.body,
  };
  if (response.statusCode < STATUS.min || response.statusCode > STATUS.max)
    throw new ApiError('responseStatusRange', { member: 'statusCode', ...STATUS });
  checkBytes('body', response.body, BODY_MAX, 'responseBodyTooLarge');
  if (NO_BODY.has(response.statusCode) && response.body !== '')
    throw new ApiError('responseBodyRefused', { member: 'body', status: response.statusCode });
  if (headers) checkAddedHeaders('headers', headers, 'response');
  return response satisfies Prisma.InputJsonObject;
}

const selection = 'id uri createdAt description metadata body headers statusCode';

export const routes = [
  route('POST', '/backends/http_response', 201, 'createHttpResponseBackend', selection),
  ...readRoutes(httpResponseBackends, 'backends', selection),
  route('PATCH', '/backends/http_response/:id', 200, 'updateHttpResponseBackend', selection),
  route('DELETE', '/backends/http_response/:id', 204, 'deleteHttpResponseBackend'),
];
