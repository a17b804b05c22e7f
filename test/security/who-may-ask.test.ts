// Introspection, GraphiQL, signing in and the agent's files are for everybody; every other root field and every REST path needs a key.

import { getIntrospectionQuery } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { errorCode } from '../../src/api/errors/error-code.ts';
import { routes } from '../../src/api/schema.ts';
import { rootFields } from '../support/gateway/documents.ts';
import { type RequestOptions, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { subscribe } from '../support/gateway/sse.ts';
import { shortened } from '../support/shortened.ts';

/** Of each kind, where `npm test` has not all. */
const FEW = 5;
/** What a stranger may ask: who it is, and to be let in. What comes of it, the tests of signing in and of provisioning prove. */
const open = [
  'viewer',
  'signInOffer',
  'beginSingleSignOn',
  'completeSingleSignOn',
  'beginPasskeySignIn',
  'completePasskeySignIn',
  'signIn',
  'signInLinkUser',
  'redeemSignInLink',
  'signOut',
  'exchangeProvisioningKey',
];
const closed = rootFields().filter(({ name }) => !open.includes(name));
const subscriptions = closed.filter(({ kind }) => kind === 'subscription');
const queries = closed.filter(({ kind }) => kind === 'query');
const mutations = closed.filter(({ kind }) => kind === 'mutation');

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await sharedGateway();
});

// The schema says which fields need a key, and both doors have the same one: a few of each kind show that the other asks it.
describe.each([
  ['by our own framing', () => gateway.api, [...queries, ...mutations], subscriptions],
  [
    'by Yoga’s adapter',
    () => gateway.byYoga(),
    [...shortened(queries, FEW), ...shortened(mutations, FEW)],
    shortened(subscriptions, FEW),
  ],
] as const)('%s', (_, listener, fields, streams) => {
  const stranger: RequestOptions = { key: null };
  beforeAll(async () => {
    stranger.base = await listener();
  });

  test.each(fields)('the $kind $name needs a key', async ({ name, document }) => {
    const { body } = await gateway.graphql(document, {}, stranger);
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0]).toMatchObject({
      path: [name],
      extensions: { code: 'UNAUTHENTICATED', status: 401, errorCode: 'ERR_GATEWAY_200' },
    });
    expect(body.data?.[name] ?? null).toBeNull();
  });

  test.each(streams)('the subscription $name needs a key', async ({ document }) => {
    const stream = await subscribe(stranger.base ?? '', 'not-a-key-at-all-00', document).catch((error: Error) => error);
    if (stream instanceof Error) return expect(stream.message).toMatch(/no event stream: (200|401)/);
    const event = await stream.next();
    stream.close();
    expect(event.data ?? null).toBeNull();
    expect(event.errors[0].extensions.code).toBe('UNAUTHENTICATED');
  });

  test.each(rootFields().filter(({ name }) => open.includes(name)))(
    'the $kind $name tells a stranger nothing of anybody',
    async ({ name, document }) => {
      const { body, headers } = await gateway.graphql(document, {}, stranger);
      const told = {
        viewer: null,
        signInOffer: { __typename: 'SignInOffer' },
        signOut: { __typename: 'SignOutPayload' },
      }[name];
      if (told !== undefined) expect(body).toEqual({ data: { [name]: told } });
      else if (name === 'exchangeProvisioningKey') expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
      else expect(body.errors[0].extensions).toMatchObject({ code: 'FORBIDDEN', errorCode: 'ERR_GATEWAY_90201' });
      expect(headers['set-cookie']?.join() ?? '').not.toMatch(/gateway_session=[^;]/);
    },
  );

  test('the standard introspection query, with all it can ask, needs no key and is within the limits', async () => {
    const query = getIntrospectionQuery({
      descriptions: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      oneOf: true,
    });
    const { body } = await gateway.graphql(query, {}, stranger);
    expect(body.errors).toBeUndefined();
    expect(body.data.__schema.types.length).toBeGreaterThan(20);
  });

  test('everything in the schema has a description', async () => {
    const { body } = await gateway.graphql(getIntrospectionQuery({ inputValueDeprecation: true }), {}, stranger);
    const bare = body.data.__schema.types
      .filter(({ name }: { name: string }) => !name.startsWith('__'))
      .flatMap((type: Described) => undescribed(type.name, type));
    expect(bare).toEqual([]);
  });

  test('__typename needs no key', async () => {
    expect((await gateway.graphql('{ __typename }', {}, stranger)).body).toEqual({ data: { __typename: 'Query' } });
  });

  test('a wrong key is not taken for none', async () => {
    const { body } = await gateway.graphql(
      '{ credentials { totalCount } }',
      {},
      { ...stranger, key: 'wrong-key-wrong-key' },
    );
    expect(body.errors[0].extensions).toMatchObject({ code: 'UNAUTHENTICATED', errorCode: 'ERR_GATEWAY_203' });
  });

  test('GraphiQL needs no key, and no other host', async () => {
    const page = await gateway.raw(
      `GET /graphql HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
    );
    expect(page).toMatch(/^HTTP\/1\.1 200 /);
    expect(page).toMatch(/Content-Type: text\/html/i);
    // What a browser loads by itself: never from elsewhere.
    const loaded = [...page.matchAll(/<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=["']?([^"'\s>]+)/gi)].map(
      ([, url]) => url,
    );
    expect(loaded.filter((url) => /^(https?:)?\/\//.test(url ?? ''))).toEqual([]);
  });
});

interface Described {
  name: string;
  description: string | null;
  fields?: Described[] | null;
  args?: Described[] | null;
  inputFields?: Described[] | null;
  enumValues?: Described[] | null;
}

function undescribed(path: string, { description, fields, args, inputFields, enumValues }: Described): string[] {
  const parts = [fields, args, inputFields, enumValues].flatMap((list) => list ?? []);
  return [...(description ? [] : [path]), ...parts.flatMap((part) => undescribed(`${path}.${part.name}`, part))].filter(
    // Values of enums speak for themselves.
    (name) => !enumValues?.some((value) => `${path}.${value.name}` === name),
  );
}

describe('by REST', () => {
  test.each(['/', '/openapi.json', '/agent/agent.js', '/agent/install.sh'])('%s is for everybody', async (path) => {
    expect((await fetch(gateway.api + path)).status).toBe(200);
  });

  test.each(routes)('$method $path needs a key', async ({ method, path, extended }) => {
    const dialect = extended?.isOnly ? 'extended' : 'documented';
    const answer = await gateway.call(method, path.replace(/:\w+/g, 'x'), undefined, { key: null, dialect });
    expect(answer).toMatchObject({ status: 401, body: { error_code: errorCode(200, dialect) } });
  });
});
