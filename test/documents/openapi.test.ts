// /openapi.json: valid in both dialects, and neither more nor less than the API has.

import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, describe, expect, test } from 'vitest';
import { prepareExports } from '../../src/api/rest/exports/exported-lists.ts';
import { DIALECTS, type Dialect, routesOf } from '../../src/api/route.ts';
import { routes, schema } from '../../src/api/schema.ts';
import { sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean;
  anyOf?: Schema[];
}

interface Operation {
  operationId: string;
  description: string;
  security?: object[];
  parameters?: { name: string; in: string; required: boolean; description?: string }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
  responses: Record<string, unknown>;
}

interface Document {
  openapi: string;
  security: object[];
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** What is no row: the documents about the API itself, and the downloads of lists. */
const publicDocuments = ['GET /', 'GET /openapi.json'];
const isExport = ({ path }: { path: string }) => path.startsWith('/export/');
const withoutExports = (dialect: Dialect) =>
  operationsOf(documents[dialect]).filter((operation) => !isExport(operation));
const inBraces = (path: string) => path.replace(/:(\w+)/g, '{$1}');

interface Described {
  place: string;
  path: string;
  operation: Operation;
}

const operationsOf = ({ paths }: Document): Described[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...{ path, operation },
      place: `${method.toUpperCase()} ${path}`,
    })),
  );

let gateway: TestGateway;
const documents = {} as Record<Dialect, Document>;
let document: Document;
let operations: Described[];

beforeAll(async () => {
  gateway = await sharedGateway();
  for (const dialect of DIALECTS) {
    const path = dialect === 'documented' ? '/openapi.json' : `/openapi.json?dialect=${dialect}`;
    const { status, headers, body } = await gateway.call('GET', path, undefined, { key: null });
    expect(`${status} ${headers['content-type']}`).toMatch(/^200 application\/json\b/);
    documents[dialect] = body;
  }
  document = documents.documented;
  operations = operationsOf(document);
});

describe.each(DIALECTS)('the %s dialect', (dialect) => {
  test('is valid OpenAPI 3.1', async () => {
    const { errors, valid } = await new Validator().validate(structuredClone(documents[dialect]) as never);
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(documents[dialect].openapi).toMatch(/^3\.1\./);
  });

  test('names the address that it was asked at', () => {
    expect(documents[dialect].servers).toEqual([{ url: gateway.api }]);
  });

  test('has every row of the table of routes, with its status, and nothing else', () => {
    const rows = routesOf(routes, dialect).map(({ method, path, status }) => [
      `${method} ${inBraces(path)}`,
      `${status}`,
    ]);
    const described = withoutExports(dialect).map(({ place, operation }) => [
      place,
      Object.keys(operation.responses).find((status) => status.startsWith('2')) ?? '',
    ]);
    expect(described.sort()).toEqual([...rows, ...publicDocuments.map((place) => [place, '200'])].sort());
  });

  test('gives each operation an id of its own, and says what it does', () => {
    const all = operationsOf(documents[dialect]);
    const ids = all.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(all.filter(({ operation }) => !operation.description?.endsWith('.'))).toEqual([]);
  });

  test('has lists take their parameters, creations an idempotency key, every row the version, and nothing else', () => {
    const isExtended = dialect === 'extended';
    const expected = routesOf(routes, dialect).map(({ method, path, selection, extended }) => [
      `${method} ${inBraces(path)}`,
      [
        isExtended ? 'Other-Version' : 'Service-Version',
        ...(selection.includes(': nodes') ? ['limit', 'before_id', 'filter', 'order_by', 'search'] : []),
        ...(isExtended && selection.includes(': nodes') ? ['beforeId'] : []),
        ...(isExtended ? Object.keys(extended?.parameters ?? {}) : []),
        ...(method === 'POST' ? ['Idempotency-Key'] : []),
      ].sort(),
    ]);
    const described = withoutExports(dialect).map(({ place, operation }) => [
      place,
      (operation.parameters ?? []).flatMap((parameter) => (parameter.in === 'path' ? [] : parameter.name)).sort(),
    ]);
    expect(Object.fromEntries(described)).toEqual({
      ...Object.fromEntries(expected),
      ...Object.fromEntries(publicDocuments.map((place) => [place, place.endsWith('openapi.json') ? ['dialect'] : []])),
    });
  });

  test('has no reference that leads nowhere', () => {
    const references: string[] = [];
    JSON.stringify(documents[dialect], (name, value) => {
      if (name === '$ref') references.push(value);
      return value;
    });
    expect(references.length).toBeGreaterThan(10);
    const broken = references.filter((reference) => {
      const steps = reference.replace(/^#\//, '').split('/');
      const target = steps.reduce<unknown>(
        (at, step) => (at as Record<string, unknown> | undefined)?.[step],
        documents[dialect],
      );
      return target === undefined;
    });
    expect(broken).toEqual([]);
  });
});

test.each([
  ['?dialect=', 215],
  ['?dialect=foreign', 215],
  ['?dialect=extended&dialect=extended', 232],
  ['?version=2', 231],
])('%s asks for none that there is', async (query, number) => {
  expect(await gateway.call('GET', `/openapi.json${query}`)).toMatchObject({
    status: 400,
    body: { error_code: `ERR_GATEWAY_${number}` },
  });
});

test('every list of the API can be downloaded', async () => {
  const { body } = await gateway.graphql('{ listKinds { exportPath } }');
  const paths = body.data.listKinds.map(({ exportPath }: { exportPath: string }) => exportPath);
  expect(
    operations
      .filter(isExport)
      .map(({ path }) => path)
      .sort(),
  ).toEqual(paths.sort());
});

test('what is asked of the schema for a download is valid, and gives columns', () => {
  for (const { path, columns } of prepareExports(schema, routes)) expect(columns, path).toContain('id');
});

test('each parameter of a path is described, required, and there', () => {
  for (const { place, path, operation } of operations) {
    const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(inPath.map(({ name }) => name).sort(), place).toEqual(named.sort());
    for (const { required, description } of inPath)
      expect({ required, description }, place).toEqual({ required: true, description: expect.stringMatching(/\.$/) });
  }
});

test('only what anyone may read needs no API key', () => {
  const open = operations.filter(({ operation: { security = document.security } }) => security.length === 0);
  expect(open.map(({ place }) => place)).toEqual(publicDocuments);
});

describe('bodies', () => {
  const texts = ['description', 'metadata'];
  const aws = [
    'auth',
    'auth.role',
    'auth.role.role_arn',
    'auth.creds',
    'auth.creds.aws_access_key_id',
    'auth.creds.aws_secret_access_key',
  ];
  const under = (name: string, members: string[]) => [name, ...members.map((member) => `${name}.${member}`)];
  const destination = [
    ...texts,
    'format',
    'target',
    ...[
      ...under('firehose', [...aws, 'delivery_stream_arn']),
      ...under('kinesis', [...aws, 'stream_arn']),
      ...under('cloudwatch_logs', [...aws, 'log_group_arn']),
      ...under('datadog', ['api_key', 'ddtags', 'service', 'ddsite']),
      ...under('azure_logs_ingestion', [
        'tenant_id',
        'client_id',
        'client_secret',
        'logs_ingestion_uri',
        'data_collection_rule_id',
        'data_collection_stream_name',
      ]),
      // Additions to the specification.
      ...under('webhook', ['url', 'signing_secret']),
      ...under('file', ['name']),
      ...under('otlp', ['endpoint', 'headers', 'compression', 'resource_attributes']),
    ].map((member) => `target.${member}`),
  ];

  test.each([
    ['POST /credentials', [...texts, 'acl', 'owner_id']],
    ['PATCH /credentials/{id}', [...texts, 'acl']],
    [
      'PUT /edges/https/{edge_id}/routes/{id}/circuit_breaker',
      [
        'enabled',
        'tripped_duration',
        'rolling_window',
        'num_buckets',
        'volume_threshold',
        'error_threshold_percentage',
      ],
    ],
    ['PUT /edges/tls/{id}/mutual_tls', ['enabled', 'certificate_authority_ids']],
    ['POST /event_destinations', destination],
    ['PATCH /event_destinations/{id}', destination],
  ])('%s takes exactly the documented members', (place, members) => {
    expect(membersOf(place)).toEqual([...members].sort());
  });

  test.each([
    ['POST /bot_users', ['name']],
    ['POST /reserved_domains', ['domain', 'region', ...texts]],
  ])('%s takes the documented members', (place, members) => {
    expect(membersOf(place)).toEqual(expect.arrayContaining(members));
  });

  test('additions to the specification are in an answer only where they are set', () => {
    const { operation } =
      operations.find(({ place }) => place === 'GET /event_destinations/{id}') ?? expect.unreachable();
    const answer = operation.responses[200] as { content: { 'application/json': { schema: Schema } } };
    const target = answer.content['application/json'].schema.properties?.target;
    const known = Object.keys(target?.properties ?? {});
    const always = ['firehose', 'kinesis', 'cloudwatch_logs', 'datadog', 'azure_logs_ingestion'];
    expect({ known, always: target?.required }).toEqual({ known: [...always, 'webhook', 'file', 'otlp'], always });
  });

  test('those without a documented body take none', () => {
    const bodiless = operations.filter(({ place }) => /^(GET|DELETE) /.test(place));
    expect(bodiless.filter(({ operation }) => operation.requestBody)).toEqual([]);
    const writing = operations.filter(({ place }) => /^(POST|PUT|PATCH) /.test(place));
    expect(
      writing
        .filter(({ operation }) => !operation.requestBody)
        .map(({ place }) => place)
        .sort(),
    ).toEqual([
      'POST /event_destinations/{destination_id}/dead_letters/retry',
      'POST /event_destinations/{destination_id}/dead_letters/{id}/retry',
      'POST /event_destinations/{id}/test',
      'POST /tunnel_sessions/{id}/restart',
      'POST /tunnel_sessions/{id}/stop',
    ]);
  });
});

/** Every member that a body may have, those within others by their path. */
function membersOf(place: string): string[] {
  const schema = operations.find((operation) => operation.place === place)?.operation.requestBody?.content[
    'application/json'
  ].schema;
  return namesIn(schema ?? {}).sort();
}

function namesIn(schema: Schema, prefix = ''): string[] {
  const inner = [schema, ...(schema.anyOf ?? [])]
    .map(({ $ref, ...inline }) =>
      $ref ? document.components.schemas[$ref.replace('#/components/schemas/', '')] : inline,
    )
    .flatMap((one) => Object.entries(one?.properties ?? {}));
  return inner.flatMap(([name, member]) => [`${prefix}${name}`, ...namesIn(member, `${prefix}${name}.`)]);
}
