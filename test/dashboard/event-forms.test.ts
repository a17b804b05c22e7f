// The forms of event destinations and subscriptions: the gateway has to accept the inputs that they make.

import { expect, test } from 'vitest';
import { eventTypes as catalog } from '../../src/api/resources/events/catalog.ts';
import { checkTarget } from '../../src/api/resources/events/target-check.ts';
import {
  fieldName,
  formToTarget,
  hasAwsAuth,
  targetKind,
  targetText,
  targetToForm,
} from '../../src/dashboard/screens/events/destinations/target-values.ts';
import {
  type AwsAuth,
  memberValidator,
  type TargetKind,
  targetKindForm,
  targetKindNames,
} from '../../src/dashboard/screens/events/destinations/targets.ts';
import * as sources from '../../src/dashboard/screens/events/subscriptions/sources.ts';
import { sinkNames } from '../../src/events/sinks/index.ts';
import { trafficObjects } from '../../src/events/traffic/gateway-objects.ts';
import '../../src/api/schema.ts';

const allowed = { eventWebhookHosts: ['hooks.example.com'], eventFileDir: '/var/events' };

/** Valid input for each member, by the last part of its path. */
const typed: Record<string, string> = {
  url: 'https://hooks.example.com/in',
  signingSecret: '0123456789abcdef',
  name: 'events.log',
  streamArn: 'arn:aws:kinesis:eu-central-1:123456789012:stream/events',
  deliveryStreamArn: 'arn:aws:firehose:eu-central-1:123456789012:deliverystream/events',
  logGroupArn: 'arn:aws:logs:eu-central-1:123456789012:log-group:events',
  roleArn: 'arn:aws:iam::123456789012:role/delivery',
  awsAccessKeyId: 'ABCDEFGHIJKLMNOPQRST',
  awsSecretAccessKey: 'not-a-secret-at-all',
  apiKey: '0123456789abcdef0123456789abcdef',
  ddsite: 'datadoghq.eu',
  ddtags: 'env:test',
  service: 'gateway',
  tenantId: '11111111-2222-3333-4444-555555555555',
  clientId: '66666666-7777-8888-9999-000000000000',
  clientSecret: 'not-a-secret-either',
  logsIngestionUri: 'https://events-a1b2.westeurope-1.ingest.monitor.azure.com',
  dataCollectionRuleId: `dcr-${'0'.repeat(32)}`,
  dataCollectionStreamName: 'Custom-Events',
  endpoint: 'https://hooks.example.com',
  headers: 'authorization: Bearer not-a-secret\nx-tenant: acme',
  compression: 'gzip',
  resourceAttributes: 'service.name: gateway\ndeployment.environment.name: test',
};

function filled(kind: TargetKind, awsAuth: AwsAuth) {
  const values = targetKindForm(kind).members.map((member) => [
    fieldName(kind, member),
    typed[member.path.split('.').at(-1) ?? ''] ?? '',
  ]);
  return { kind, awsAuth, values: Object.fromEntries(values) };
}

test('there is a form for every kind of target', () => {
  expect([...targetKindNames].sort()).toEqual(sinkNames.toSorted());
});

const forms = targetKindNames.flatMap((kind) =>
  (hasAwsAuth(kind) ? (['role', 'creds'] as const) : (['role'] as const)).map((proof) => [kind, proof] as const),
);

test.each(forms)('the form for %s (%s) makes a target that the gateway accepts, and shows it again', (kind, proof) => {
  const choice = filled(kind, proof);
  for (const member of targetKindForm(kind).members) {
    expect(memberValidator(member, false)(choice.values[fieldName(kind, member)] ?? ''), member.path).toBeNull();
  }
  const target = checkTarget(formToTarget(choice), allowed);
  expect(targetKind(target as never)).toBe(kind);
  expect(formToTarget(targetToForm(target as never))).toEqual(formToTarget(choice));
  expect(targetText(target as never)).toContain(typed[targetKindForm(kind).main]);
});

test('a secret may be left empty only if one is stored', () => {
  for (const kind of targetKindNames) {
    for (const member of targetKindForm(kind).members.filter(({ isSecret }) => isSecret)) {
      expect(memberValidator(member, true)('')).toBeNull();
      expect(memberValidator(member, false)('')).toBe('This is needed.');
    }
  }
});

test('every type of event is in one of the groups', () => {
  const eventTypes = catalog();
  const inCapitals = { audit: 'AUDIT', traffic: 'TRAFFIC' } as const;
  const types = eventTypes.map((type) => ({ ...type, class: inCapitals[type.class], fields: [] }));
  const { traffic, others, changes } = sources.groupEventTypes(types);
  const all = [...traffic, ...others, ...changes.flatMap((object) => object.types.map(({ type }) => type))];
  expect(all.map(({ name }) => name).sort()).toEqual(eventTypes.map(({ name }) => name));
  expect(changes.find(({ object }) => object === 'API key')?.types.map(({ action }) => action)).toEqual([
    'created',
    'updated',
    'deleted',
  ]);
});

test('deselecting a field selects all others, and selecting all fields is stored as an empty list', () => {
  const all = trafficObjects['http_request_complete.v0'].fields.map(({ name }) => name);
  const without = sources.toggleField([], 'conn.client_ip', all);
  expect(without).toEqual(all.filter((name) => name !== 'conn.client_ip'));
  expect(sources.toggleField(without, 'conn.client_ip', all)).toEqual([]);
  expect(sources.toggleField(['conn.client_ip'], 'conn.client_ip', all), 'the last one stays').toEqual([
    'conn.client_ip',
  ]);
  expect(sources.toggleField(['http.request'], 'http.request.method', all)).toEqual(
    all.filter((name) => name.startsWith('http.request.') && name !== 'http.request.method'),
  );
});

test('a share is sent without rounding errors, and fields are named by the position of their source', () => {
  let chosen = sources.withTypesSelected({}, ['user_created.v0', 'http_request_complete.v0'], true);
  chosen = { ...chosen, 'http_request_complete.v0': { fields: [], filter: ' true ', share: 7 } };
  const input = sources.sourcesToInput(chosen);
  expect(input[0]).toEqual({ type: 'http_request_complete.v0', fields: [], filter: 'true', sampleRate: 0.07 });
  expect(input[1]?.sampleRate).toBe(1);
  expect(sources.sourceFieldName(chosen, 'user_created.v0', 'filter')).toBe('sources[1].filter');
});
