// Section 2: every documented object has exactly the members of its table, and each of them is what the table says.

import { beforeAll, describe, expect, test } from 'vitest';
import { snakeCase } from '../../contract/doors.ts';
import { samples } from '../samples.ts';
import { differences, everyMember, fits, valuesAt, wordsOf } from '../shape.ts';
import { type Member, type ObjectName, objects, type Type } from '../tables.ts';
import { account, done, doorNames, fullAnswer } from '../walk.ts';

const objectNames = Object.keys(objects) as ObjectName[];

/** What answers to REST have more than the tables: a reserved domain takes and shows texts, as most objects do. */
const restAdditions: Partial<Record<ObjectName, Member[]>> = {
  reservedDomain: ['description', 'metadata'].map((name) => ({ name, type: { kind: 'string' }, rules: '' })),
};

/** What may be null, and where. */
const mayBeNull: Partial<Record<ObjectName, RegExp>> = {
  credential: /^token$/,
  endpoint: /^(domain|tcp_addr|tunnel|edge)$/,
  // Secrets are shown once.
  eventDestination: /^target\.\w+$|\.(role|creds|aws_secret_access_key|api_key|client_secret)$/,
  // Names that are no wildcards are validated without the record.
  reservedDomain: /^acme_challenge_cname_target$/,
};

/** What is null as long as a domain has no certificate and no one has tried to obtain one. */
const isUnset: Partial<Record<ObjectName, RegExp>> = {
  reservedDomain: /^(https?_endpoint_configuration|certificate)$|\.renews_at$|\.error_code$|\.retries_at$/,
};
/** What would be in these: the specification does not show it. */
const isNotShown: Partial<Record<ObjectName, RegExp>> = {
  reservedDomain: /^(https?_endpoint_configuration|certificate)\./,
};

/** What GraphQL's types have more than the tables: what leads on to other objects, live figures, and additions that REST has, too. */
const graphqlAdditions: Record<string, string[]> = {
  Credential: ['agents', 'open_sessions', 'owner', 'rotation', 'tunnel_sessions'],
  Endpoint: [
    ...[
      ...['agent', 'agents', 'credential', 'since', 'state'],
      'bindings',
      'bytes_last_day',
      'description',
      'documented_type',
      'forwards_to',
      'health',
      'host',
      'legs',
      'name',
      'node_id',
    ],
    ...[
      'pooling_enabled',
      'port',
      'principal',
      'requests',
      'requests_last_day',
      'round_trip',
      'scheme',
      'traffic',
      'traffic_history',
    ],
    ...['traffic_policy', 'tunnel_session', 'upstream_protocol', 'upstream_url', 'uri', 'url'],
  ],
  EventDestination: ['dead_letters', 'delivery', 'subscriptions'],
  'EventDestination.target': ['file', 'otlp', 'webhook'],
  BotUser: ['api_keys', 'credentials', 'may_read_bodies', 'provisioning_keys'],
  ReservedDomain: [
    ...['certificate_provisioning', 'description', 'endpoints', 'https_edges', 'metadata', 'resolves_to', 'tls_edges'],
  ],
};

interface GraphqlType {
  kind: string;
  name: string | null;
  ofType?: GraphqlType;
}

/** Registers the checks. */
export function checkMembers(): void {
  describe.each(doorNames)('through %s:', (door) => {
    test.each(
      samples.map((sample) => {
        const { section, name, members } = objects[sample.object];
        return [section, name, members.length, sample.from, sample] as const;
      }),
    )('%s %s has exactly these %i members in the answer to %s', async (_, __, ___, ____, sample) => {
      const { members } = objects[sample.object];
      const answer = await sample.answer(door);
      const more = door === 'rest' ? (restAdditions[sample.object] ?? []) : [];
      expect([answer].flat().length).toBeGreaterThan(0);
      expect(differences(answer, [...members, ...more])).toEqual([]);
    });

    const known = objectNames.flatMap((object) =>
      everyMember(objects[object].members)
        .filter(({ path }) => !isNotShown[object]?.test(path))
        .map(({ path, type }) => {
          const { section, name } = objects[object];
          const words = isUnset[object]?.test(path) ? 'null as long as it is not set' : wordsOf(type);
          return [`${section} ${name}.${path} is ${words}`, { object, path, type }] as const;
        }),
    );
    test.each(known)('%s', async (_, { object, path, type }) => {
      const answers = await Promise.allSettled(
        samples.filter((sample) => sample.object === object).map((sample) => sample.answer(door)),
      );
      const values = answers.flatMap((answer) =>
        answer.status === 'fulfilled' ? [answer.value].flat().flatMap((one) => valuesAt(one, path)) : [],
      );
      expect(values.length).toBeGreaterThan(0);
      if (isUnset[object]?.test(path)) return expect(values.filter((value) => value !== null)).toEqual([]);
      const set = values.filter((value) => value !== null);
      expect(set.length, 'how many are not null').toBeGreaterThan(0);
      expect(set.filter((value) => !fits(value, type))).toEqual([]);
      if (!mayBeNull[object]?.test(path)) expect(set.length, 'how many are not null').toBe(values.length);
    });
  });

  describe('the same object is the same through REST and GraphQL:', () => {
    const looks = samples.filter(({ from }) => from.startsWith('GET'));
    test.each(looks.map((sample) => [sample.from, sample] as const))('%s', async (_, sample) => {
      const [byRest, byGraphql] = [await sample.answer('rest'), await sample.answer('graphql')];
      const more = restAdditions[sample.object] ?? [];
      for (const one of [byRest].flat()) for (const { name } of more) expect(one).toHaveProperty(name);
      const without = (one: object) =>
        Object.fromEntries(Object.entries(one).filter(([name]) => !more.some((member) => member.name === name)));
      // What was created between the two questions is in the second list alone.
      const known = new Set([byRest].flat().map(({ id }) => id));
      expect([byRest].flat().map(without)).toStrictEqual([byGraphql].flat().filter(({ id }) => known.has(id)));
    });

    const creating = ['/credentials', '/event_destinations', '/reserved_domains'];
    test.each(creating.flatMap((path) => doorNames.map((door) => [path, door] as const)))(
      'what POST %s made through %s is what the other door reads',
      async (path, door) => {
        const { answer: made } = await fullAnswer(door, `POST ${path}`);
        const other = door === 'rest' ? 'graphql' : 'rest';
        const read = await done(other, `GET ${path}/{id}`, { ids: { id: made.id } });
        // Only these may be changed by a later test, or shown once.
        const changeable = ['token', 'target', 'description', 'metadata', 'acl'];
        for (const name of Object.keys(made).filter((name) => !changeable.includes(name)))
          expect(read[name], name).toEqual(made[name]);
      },
    );
  });

  describe('through graphql, types have the members of the tables and additions that are named here:', () => {
    const types = new Map<string, { name: string; type: GraphqlType }[]>();
    beforeAll(async () => {
      const type = 'type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }';
      const { body } = await account.graphql(`{ __schema { types { name fields { name ${type} } } } }`);
      for (const { name, fields } of body.data.__schema.types) types.set(name, fields ?? []);
    });

    const named = (type: GraphqlType): string => (type.ofType ? named(type.ofType) : String(type.name));
    const scalars = {
      string: ['String', 'ID', 'EndpointType', 'EndpointProto'],
      timestamp: ['Timestamp'],
      boolean: ['Boolean'],
      uint32: ['UInt32'],
      float64: ['Float'],
    };
    const held = (type: Type): Type => (type.kind === 'list' ? held(type.of) : type);
    /** Every object of the tables, those within others by their path. */
    const withinIt = (path: string, members: Member[]): { path: string; members: Member[] }[] => [
      { path, members },
      ...members.flatMap(({ name, type }) => {
        const inner = held(type);
        return inner.kind === 'object' ? withinIt(`${path}.${name}`, inner.members) : [];
      }),
    ];
    const all = objectNames.flatMap((object) => withinIt(objects[object].name, objects[object].members));

    /** The fields of the type that is at a path, as `EventDestination.target`. */
    function fieldsAt(path: string) {
      const [root = '', ...steps] = path.split('.');
      const name = steps.reduce((type, step) => {
        const field = types.get(type)?.find(({ name }) => snakeCase(name) === step);
        expect(field, `${type}.${step}`).toBeDefined();
        return named(field?.type as GraphqlType);
      }, root);
      return types.get(name) ?? [];
    }

    test.each(all.map(({ path, members }) => [path, members.length, members] as const))(
      '%s and the %i of its table',
      (path, _, all) => {
        const fields = fieldsAt(path);
        // A token that is shown once is of the payload that creates the object.
        const members = all.filter(({ name }) => name !== 'token');
        const names = [...members.map(({ name }) => name), ...(graphqlAdditions[path] ?? [])];
        const shown = fields.map(({ name }) => snakeCase(name)).sort();
        // A reference is the object itself, which has more members than its names.
        if (String(names.sort()) === 'id,uri') expect(shown).toEqual(expect.arrayContaining(names));
        else expect(shown).toEqual(names);
        for (const { name, type } of members) {
          const inner = held(type);
          const field = fields.find((one) => snakeCase(one.name) === name)?.type as GraphqlType;
          if (inner.kind === 'object' || inner.kind === 'list') continue;
          expect(scalars[inner.kind], `${path}.${name}`).toContain(named(field));
        }
      },
    );
  });
}
