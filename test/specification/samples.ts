// Every answer in which a documented object comes, alone, in a list or within another object.

import { type LiveKind, liveKinds } from './live.ts';
import type { ObjectName } from './tables.ts';
import { account, type DoorName, done, fullAnswer, live, once, route, targets, tlsEdge, unique } from './walk.ts';

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
type Json = any;

export interface Sample {
  object: ObjectName;
  /** What answers it. */
  from: string;
  /** The object, or the objects of a list; asked once for each door. */
  answer(door: DoorName): Promise<Json>;
}

const sample = (object: ObjectName, from: string, ask: (door: DoorName) => Promise<Json>): Sample => ({
  ...{ object, from },
  answer: (door) => once(`${door} ${object} ${from}`, () => ask(door)),
});

/** The answer to a call with every member given. */
const full = (object: ObjectName, call: string) =>
  sample(object, call, async (door) => (await fullAnswer(door, call)).answer);

const created = (object: ObjectName, call: string, what: string, body: () => object) =>
  sample(object, `${call} ${what}`, (door) => done(door, call, { body: body() }));

/** A list that holds what was created. */
const list = (object: ObjectName, call: string, key: string) =>
  sample(object, `${call}, a list`, async (door) => {
    if (object !== 'endpoint') await fullAnswer('rest', call.replace('GET', 'POST'));
    return (await done(door, call))[key];
  });

const breakerPath = '/edges/https/{edge_id}/routes/{id}/circuit_breaker';

export const samples: Sample[] = [
  created('credential', 'POST /credentials', 'with nothing', () => ({})),
  full('credential', 'POST /credentials'),
  full('credential', 'PATCH /credentials/{id}'),
  full('credential', 'GET /credentials/{id}'),
  list('credential', 'GET /credentials', 'credentials'),

  ...(Object.keys(liveKinds) as LiveKind[]).map((kind) =>
    sample('endpoint', `GET /endpoints/{id}, ${kind}`, (door) =>
      done(door, 'GET /endpoints/{id}', { ids: { id: live.ids[kind] } }),
    ),
  ),
  list('endpoint', 'GET /endpoints', 'endpoints'),

  full('circuitBreaker', `PUT ${breakerPath}`),
  full('circuitBreaker', `GET ${breakerPath}`),
  sample('circuitBreaker', 'the member circuit_breaker of a route', async (door) => {
    if (door === 'graphql') return (await fullAnswer(door, `GET ${breakerPath}`)).answer;
    return (await account.call('GET', `/edges/https/${route.edge_id}/routes/${route.id}`)).body.circuit_breaker;
  }),

  full('mutualTls', 'PUT /edges/tls/{id}/mutual_tls'),
  full('mutualTls', 'GET /edges/tls/{id}/mutual_tls'),
  sample('mutualTls', 'the member mutual_tls of an edge', async (door) => {
    if (door === 'graphql') return (await fullAnswer(door, 'GET /edges/tls/{id}/mutual_tls')).answer;
    return (await account.call('GET', `/edges/tls/${tlsEdge.id}`)).body.mutual_tls;
  }),

  ...targets.map(({ title, kind, target }) =>
    created('eventDestination', 'POST /event_destinations', `to ${title}`, () => ({ target: { [kind]: target } })),
  ),
  full('eventDestination', 'POST /event_destinations'),
  full('eventDestination', 'PATCH /event_destinations/{id}'),
  full('eventDestination', 'GET /event_destinations/{id}'),
  list('eventDestination', 'GET /event_destinations', 'event_destinations'),

  full('botUser', 'POST /bot_users'),
  full('botUser', 'GET /bot_users/{id}'),
  list('botUser', 'GET /bot_users', 'bot_users'),

  full('reservedDomain', 'POST /reserved_domains'),
  full('reservedDomain', 'GET /reserved_domains/{id}'),
  created('reservedDomain', 'POST /reserved_domains', 'for a wildcard', () => ({
    domain: `*.${unique('wild')}.example.com`,
    region: 'eu',
  })),
  list('reservedDomain', 'GET /reserved_domains', 'reserved_domains'),
];

/** A sample by what answers it. */
export function sampleFrom(from: string): Sample {
  const found = samples.find((one) => one.from === from);
  if (!found) throw new Error(`there is no sample from ${from}`);
  return found;
}
