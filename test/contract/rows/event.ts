// What events need beside destinations and subscriptions: sources, and how delivery is going.

import { newId } from '../../../src/store/ids.ts';
import * as expected from '../expected.ts';
import { shapes } from '../shapes.ts';
import type { World } from '../world.ts';
import { fresh, type Row, row } from './rows.ts';
import { examples } from './targets.ts';

const sourcesPath = '/event_subscriptions/{subscription_id}/sources';
const freshSource = async (world: World) => {
  const body = { sources: [{ type: 'user_created.v0' }, { type: 'domain_updated.v0' }] };
  const { id } = await fresh('/event_subscriptions', body)(world);
  return { subscription_id: id, type: 'user_created.v0' };
};
const freshSources = async (world: World) => ({ subscription_id: (await freshSource(world)).subscription_id });
const types = { rest: 'tls_edge_created.v0', graphql: 'tls_edge_deleted.v0' } as Record<string, string>;

const traffic = { rest: 'http_request_complete.v0', graphql: 'tcp_connection_closed.v0' } as Record<string, string>;
const choice = { fields: ['conn.client_ip', 'ip_policy'], filter: 'ev.conn.server_port == 443', sample_rate: 0.25 };

const sources: Row[] = [
  row(`POST ${sourcesPath}`, 201, 'createEventSource', {
    shape: shapes.source,
    at: freshSources,
    body: (_, door) => ({ type: types[door] }),
    answer: (world, _, door, ids) => expected.source(world, ids.subscription_id ?? '', types[door] ?? ''),
  }),
  row(`POST ${sourcesPath}`, 201, 'createEventSource', {
    note: 'of traffic',
    shape: shapes.source,
    at: freshSources,
    body: (_, door) => ({ type: traffic[door], ...choice }),
    answer: (world, _, door, ids) => expected.source(world, ids.subscription_id ?? '', traffic[door] ?? '', choice),
  }),
  row(`GET ${sourcesPath}`, 200, 'eventSources', {
    shape: `sources { ${shapes.source} } uri`,
    at: freshSources,
    answer: (world, _, __, { subscription_id = '' }) => ({
      sources: ['user_created.v0', 'domain_updated.v0'].map((type) => expected.source(world, subscription_id, type)),
      uri: world.uri(`/event_subscriptions/${subscription_id}/sources`),
    }),
  }),
  row(`GET ${sourcesPath}/{type}`, 200, 'eventSource', {
    shape: shapes.source,
    at: freshSource,
    answer: (world, _, __, { subscription_id = '', type = '' }) => expected.source(world, subscription_id, type),
  }),
  row(`PATCH ${sourcesPath}/{type}`, 200, 'updateEventSource', {
    shape: shapes.source,
    at: freshSource,
    body: () => ({}),
    answer: (world, _, __, { subscription_id = '', type = '' }) => expected.source(world, subscription_id, type),
  }),
  row(`PATCH ${sourcesPath}/{type}`, 200, 'updateEventSource', {
    note: 'of traffic',
    shape: shapes.source,
    at: async (world) => {
      const body = { sources: [{ type: 'tcp_connection_closed.v0', ...choice }] };
      const { id } = await fresh('/event_subscriptions', body)(world);
      return { subscription_id: id, type: 'tcp_connection_closed.v0' };
    },
    body: () => ({ fields: [], sample_rate: 0.5 }),
    answer: (world, _, __, { subscription_id = '', type = '' }) =>
      expected.source(world, subscription_id, type, { ...choice, fields: [], sample_rate: 0.5 }),
  }),
  row(`DELETE ${sourcesPath}/{type}`, 204, 'deleteEventSource', { at: freshSource }),
];

const freshDestination = fresh('/event_destinations', { target: examples.file?.sent });

const event = JSON.stringify({
  ...{ event_id: newId('ev'), event_type: 'user_created.v0', event_timestamp: '2026-11-21T09:00:00Z' },
  ...{ account_id: 'ac_x', principal: null, object: {} },
});
const refused = {
  ...{ eventId: 'ev_refused', eventType: 'user_created.v0', event },
  ...{ errorCode: 'HTTP 400', errorMessage: 'it is not one of ours' },
};

/** A destination with a dead letter, as one that refused it has. */
async function withLetter(world: World) {
  const { id: destinationId } = await freshDestination(world);
  const { accountId } = world.account;
  const id = newId('edl');
  await world.gateway.app.prisma.eventDeadLetter.create({ data: { id, destinationId, accountId, ...refused } });
  return { destination_id: destinationId, id };
}
const ofDestination = async (world: World) => ({ destination_id: (await withLetter(world)).destination_id });

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
const letter = (world: World, destinationId: string, got: any) => ({
  id: expected.idOf('edl'),
  uri: world.uri(`/event_destinations/${destinationId}/dead_letters/${got.id}`),
  created_at: expected.time,
  event_id: refused.eventId,
  event_type: refused.eventType,
  event,
  error_code: refused.errorCode,
  error_message: refused.errorMessage,
});

const letters = '/event_destinations/{destination_id}/dead_letters';

const deliveries: Row[] = [
  row('GET /event_destinations/{id}/delivery', 200, 'eventDestinationDelivery', {
    shape: shapes.delivery,
    at: freshDestination,
    answer: (world, _, __, { id = '' }) => expected.delivery(world, id),
  }),
  row('POST /event_destinations/{id}/test', 200, 'testEventDestination', {
    shape: shapes.destinationTest,
    at: freshDestination,
    answer: (_, got) => ({
      ok: true,
      event_id: expected.idOf('ev'),
      latency_ms: got.latency_ms,
      error_code: null,
      error_message: null,
    }),
  }),
  row(`GET ${letters}`, 200, 'eventDeadLetters', {
    shape: shapes.deadLetter,
    list: 'dead_letters',
    at: ofDestination,
    answer: (world, got, _, { destination_id = '' }) =>
      expected.list(world, 'dead_letters', `/event_destinations/${destination_id}/dead_letters`, [
        letter(world, destination_id, got.dead_letters[0]),
      ]),
  }),
  row(`GET ${letters}/{id}`, 200, 'eventDeadLetter', {
    shape: shapes.deadLetter,
    at: withLetter,
    answer: (world, got, _, { destination_id = '', id }) => ({ ...letter(world, destination_id, got), id }),
  }),
  row(`DELETE ${letters}/{id}`, 204, 'discardEventDeadLetter', { at: withLetter }),
  row(`POST ${letters}/{id}/retry`, 204, 'retryEventDeadLetter', { at: withLetter, atEach: true }),
  row(`POST ${letters}/retry`, 200, 'retryEventDeadLetters', {
    shape: shapes.count,
    at: ofDestination,
    atEach: true,
    answer: () => ({ count: 1 }),
  }),
  row(`DELETE ${letters}`, 200, 'discardEventDeadLetters', {
    shape: shapes.count,
    at: ofDestination,
    isPart: true,
    answer: () => ({ count: 1 }),
  }),
];

export const eventRows = [...sources, ...deliveries];
