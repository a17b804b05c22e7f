// Logged requests as GraphQL shows them.

import { LOG_PREFIX, type LogEntry } from '../../../request-log/log-entry.ts';
import { builder } from '../../builder/builder.ts';
import { Node, registerResource } from '../../collections/nodes.ts';
import { reference, typeOfKind, WHEN_GONE } from '../../collections/references.ts';
import { RefusalType } from '../capture/captured-request-type.ts';

export const LoggedRequestType = builder.objectRef<LogEntry>('LoggedRequest').implement({
  description:
    'A request that came to an endpoint, once it was over: what it was, what became of it and how long that took, without ' +
    'headers and bodies. Every endpoint’s last requests are kept, without setup, in the memory of the node that they came to.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id, which sorts by the time when it was over: `rq_…`.' }),
    endpointId: t.exposeID('endpointId', { description: 'The id of the endpoint that it came to: `ep_…`.' }),
    routeId: t.exposeID('routeId', {
      nullable: true,
      description: 'The id of the edge’s route that it took; null without one.',
    }),
    endpoint: t.field({
      type: typeOfKind('endpoint'),
      nullable: true,
      description: `The endpoint that it came to. ${WHEN_GONE}`,
      resolve: reference(({ endpointId }) => endpointId),
    }),
    route: t.field({
      type: typeOfKind('httpsEdgeRoute'),
      nullable: true,
      description: 'The edge’s route that it took; null without one, and when that is gone.',
      resolve: reference(({ routeId }) => routeId),
    }),
    startedAt: t.field({
      type: 'Timestamp',
      description: 'When its head had come.',
      resolve: ({ startedAt }) => new Date(startedAt),
    }),
    startedAtMilliseconds: t.exposeFloat('startedAt', {
      description: 'The same in milliseconds since 1970.',
    }),
    clientIp: t.exposeString('clientIp', { description: 'The visitor’s address.' }),
    httpVersion: t.exposeString('httpVersion', { description: '`HTTP/1.0`, `HTTP/1.1` or `HTTP/2.0`.' }),
    method: t.exposeString('method', { description: 'Its method, as `GET`.' }),
    url: t.string({
      description: 'The URL that was asked for, with the path as `path` has it.',
      resolve: ({ scheme, host, path }) => `${scheme}://${host}${path === '*' ? '' : path}`,
    }),
    host: t.exposeString('host', {
      description: 'The name that was asked for, with the port where it is not the usual one.',
    }),
    path: t.exposeString('path', {
      description:
        'Its path, cut after 1024 characters. Of the query there are the names: values are left out, as `?page=…`, since ' +
        'they may be secret.',
    }),
    status: t.exposeInt('status', {
      nullable: true,
      description: 'The status of the answer; null when there was none.',
    }),
    isComplete: t.exposeBoolean('isComplete', {
      description: 'Whether the whole answer was sent; false when it was cut, or there was none.',
    }),
    isOpen: t.exposeBoolean('isOpen', {
      description: 'Whether it became a connection of another protocol, as a WebSocket, that was open still.',
    }),
    bytesIn: t.exposeFloat('bytesIn', { description: 'Bytes of its body; of a WebSocket, all that the visitor sent.' }),
    bytesOut: t.exposeFloat('bytesOut', { description: 'Bytes of the answer’s body that were sent, likewise.' }),
    userAgent: t.exposeString('userAgent', {
      description: 'Its User-Agent, cut after 200 characters; `""` without one.',
    }),
    operationId: t.exposeString('operationId', {
      nullable: true,
      description: 'What a visitor who was turned away was shown, and the log has: `op_…`. Null otherwise.',
    }),
    refusal: t.field({
      type: RefusalType,
      nullable: true,
      description: 'Why the gateway itself answered, or cut the answer; null where it did neither.',
      resolve: ({ refusal }) => refusal,
    }),
    errorCode: t.exposeString('errorCode', {
      nullable: true,
      description: 'The error that the visitor was shown: `ERR_GATEWAY_…`; null without one.',
    }),
    upstreamMilliseconds: t.exposeFloat('upstreamMs', {
      nullable: true,
      description:
        'How long it took until the request was on its way to the agent, modules and policy included; null when it never was.',
    }),
    firstByteMilliseconds: t.exposeFloat('firstByteMs', {
      nullable: true,
      description: 'How long it took until the answer began; null without one.',
    }),
    durationMilliseconds: t.exposeFloat('durationMs', {
      description:
        'How long it took until the last of the answer was sent, or it was over. All times begin with its head.',
    }),
  }),
});

registerResource({
  kind: 'loggedRequest',
  prefix: LOG_PREFIX,
  typeName: 'LoggedRequest',
  ref: LoggedRequestType,
  find: async ({ app, accountId }, ids) => {
    const [id] = ids;
    const { entries } = await app.requestLog.newest({ accountId, ids, id }, ids.length);
    return entries.filter((entry) => ids.includes(entry.id));
  },
});
