// Captured requests as GraphQL shows them.

import type { FieldPairs, RequestCapture } from '../../../capture/captured-request.ts';
import { redactedFields, type ShownField } from '../../../capture/redaction.ts';
import type { Refusal } from '../../../edge/reports/traffic-reports.ts';
import { withoutQueryValues } from '../../../http/path.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/nodes.ts';
import { reference, typeOfKind, WHEN_GONE } from '../../collections/references.ts';
import type { Context } from '../../context.ts';
import { checkMayReadBodies, mayReadBodies } from './body-access.ts';
import { base64Of, type ShownBody, textOf } from './captured-body.ts';
import { chargeBytes, chargeText } from './response-budget.ts';

/** What a header field takes in an answer besides its name and its value, about. */
const HEADER_BYTES = 128;

export const CapturedHeader = builder.objectRef<ShownField>('CapturedHeader').implement({
  description: 'A header field as it passed.',
  fields: (t) => ({
    name: t.string({
      description: 'Its name, as it was written.',
      resolve: ({ name }, _, context) => chargeText(context, name),
    }),
    value: t.string({
      description:
        'Its value; `""` when it is redacted, and of a URL what is before its query, with the names in it. Bytes beyond ASCII are shown ' +
        'as Latin-1.',
      resolve: ({ value }, _, context) => chargeText(context, value),
    }),
    isRedacted: t.exposeBoolean('isRedacted', {
      description:
        'Whether the value is not shown: to nobody, of the fields that `redactedHeaders` names, and of other fields that usually hold ' +
        'credentials or URLs to who may not read captured bodies. A replay sends it all the same.',
    }),
  }),
});

export const CapturedBody = builder.objectRef<ShownBody>('CapturedBody').implement({
  description: 'A body as it passed, without what frames its chunks.',
  fields: (t) => ({
    bytes: t.float({ description: 'How many bytes passed.', resolve: ({ body }) => body.bytes }),
    keptBytes: t.int({ description: 'How many of them, from the first on, were kept.', resolve: kept }),
    isWhole: t.boolean({
      description: 'Whether what was kept is the whole body: all of it came, and all that came was kept.',
      resolve: ({ body }) => body.isWhole,
    }),
    base64: t.string({
      nullable: true,
      description:
        'What was kept, byte for byte, in Base64. Fails with `FORBIDDEN`, as `text` does, without the right to read ' +
        'captured bodies: see `mayReadBodies` of users.',
      resolve: async (shownBody, _, context) => {
        await checkMayReadBodies(context);
        return base64Of(context, shownBody);
      },
    }),
    text: t.string({
      nullable: true,
      description:
        'What was kept as text, decoded of gzip, brotli or deflate, up to 1 MiB. Null when it is no text in UTF-8, and ' +
        'for the last ones where one answer would have more than 24 MiB of captured requests: ask for fewer at once.',
      resolve: async (shownBody, _, context) => {
        await checkMayReadBodies(context);
        return textOf(context, shownBody);
      },
    }),
  }),
});

export const RefusalType = builder.objectRef<Refusal>('Refusal').implement({
  description: 'Why a visitor was turned away.',
  fields: (t) => ({
    module: t.exposeString('module', {
      description:
        'Which module it was, as `ip_restriction`; `gateway` where the gateway found no way, or got no good answer.',
    }),
    reason: t.string({
      description: 'Why, for the operator; the visitor is told less.',
      resolve: ({ reason }, _, context) => chargeText(context, reason),
    }),
  }),
});

export const CapturedRequest = builder.objectRef<RequestCapture>('CapturedRequest').implement({
  description:
    'A request that came to an endpoint while its traffic was captured, with its answer, once that was over. It is in ' +
    'the memory of one node of the gateway, and nowhere else. One answer gives at most 32 MiB of headers, paths and ' +
    'bodies.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `cap_…`.' }),
    endpointId: t.exposeID('endpointId', { description: 'The id of the endpoint that it came to: `ep_…`.' }),
    endpoint: t.field({
      type: typeOfKind('endpoint'),
      nullable: true,
      description: `The endpoint that it came to. ${WHEN_GONE}`,
      resolve: reference(({ endpointId }) => endpointId),
    }),
    operationId: t.exposeString('operationId', {
      nullable: true,
      description: 'What a visitor who was turned away was shown, and the log has: `op_…`. Null otherwise.',
    }),
    startedAt: t.field({
      type: 'Timestamp',
      description: 'When its head had come.',
      resolve: ({ startedAt }) => new Date(startedAt),
    }),
    durationMilliseconds: t.exposeFloat('durationMs', {
      description: 'How long it took from there until the last of the answer was sent, or it was over.',
    }),
    clientIp: t.exposeString('clientIp', { description: 'The visitor’s address.' }),
    isTls: t.exposeBoolean('isTls', { description: 'Whether it came over TLS.' }),
    httpVersion: t.exposeString('httpVersion', { description: '`HTTP/1.0`, `HTTP/1.1` or `HTTP/2.0`.' }),
    method: t.exposeString('method', { description: 'Its method, as `GET`.' }),
    url: t.string({
      description: 'The URL that was asked for, with the query as `path` has it.',
      resolve: async ({ scheme, host, target }, _, context) =>
        chargeText(context, `${scheme}://${host}${target === '*' ? '' : await shownTarget(context, target)}`),
    }),
    path: t.string({
      description:
        'Its path with the query. To who may not read captured bodies, it has the names of the query alone, as `?page=…`, since values ' +
        'may be secret.',
      resolve: async ({ target }, _, context) => chargeText(context, await shownTarget(context, target)),
    }),
    status: t.exposeInt('status', {
      nullable: true,
      description: 'The status of the answer as the visitor got it; null when there was none.',
    }),
    isComplete: t.exposeBoolean('isComplete', { description: 'Whether the whole answer was sent.' }),
    refusal: t.field({
      type: RefusalType,
      nullable: true,
      description:
        'Why the gateway itself answered, or closed the connection; null where it did not turn anybody away.',
      resolve: ({ refusal }) => refusal ?? null,
    }),
    requestHeaders: t.field({
      type: [CapturedHeader],
      description: 'The header fields of the request, as the visitor sent them.',
      resolve: ({ requestFields, redacted }, _, context) => headersOf(context, requestFields, redacted),
    }),
    responseHeaders: t.field({
      type: [CapturedHeader],
      description: 'The header fields of the answer, as they were sent to the visitor.',
      resolve: ({ responseFields, redacted }, _, context) => headersOf(context, responseFields, redacted),
    }),
    requestBody: t.field({
      type: CapturedBody,
      description: 'The body of the request, as the visitor sent it.',
      resolve: ({ requestBody: body, requestFields: fields }) => ({ body, fields }),
    }),
    responseBody: t.field({
      type: CapturedBody,
      description:
        'The body of the answer, as it was sent to the visitor. Of what passes after an answer with 101, as in a ' +
        'WebSocket, only the bytes are counted, both ways.',
      resolve: ({ responseBody: body, responseFields: fields }) => ({ body, fields }),
    }),
    replayOf: t.exposeID('replayOf', {
      nullable: true,
      description: 'Of a replay, the id of the request that it repeats, which may be forgotten by now: `cap_…`.',
    }),
  }),
});

function kept({ body }: ShownBody): number {
  return body.kept.length;
}

async function shownTarget(context: Context, target: string): Promise<string> {
  return (await mayReadBodies(context)) ? target : withoutQueryValues(target);
}

/** Header fields as they may be shown. @throws {ApiError} when they would be too many in one answer. */
export async function headersOf(
  context: Context,
  fields: FieldPairs,
  redacted: RequestCapture['redacted'],
): Promise<ShownField[]> {
  chargeBytes(context, fields.length * HEADER_BYTES);
  return redactedFields(fields, redacted, await mayReadBodies(context));
}
