// Targets that try to lead elsewhere than their kind may: the API refuses them, whatever they are written like.

import { beforeAll, expect, test } from 'vitest';
import { REGION } from '../../support/events/aws-sinks.ts';
import { targetOf } from '../../support/events/clouds-lab.ts';
import { type Account, sharedGateway } from '../../support/gateway/gateway.ts';

let account: Account;
beforeAll(async () => {
  account = await (await sharedGateway()).newAccount();
});

const keys = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'secret' };
const cloud = { aws: { customer: keys } } as never;
const create = (target: object) => account.call('POST', '/event_destinations', { target });
const words = (text: string) => text.trim().split(/\s+/);

const evil = [
  ...words(`
    evil.org/ evil.org# evil.org? x@evil.org evil.org\\ .. . / @ %2f localhost 127.0.0.1 169.254.169.254
    eu-west-1.evil.org eu-west-1/ eu-west-1# eu-west-1@evil.org EU-WEST-1 еu-west-1 eu-west-1. * eu_west_1
    eu-west-1000 aws internal - a-1
  `),
  ...['', ' ', 'eu-west-1\n', 'eu-west-1 '],
];

const kinds = [
  ['firehose', 'delivery_stream_arn'],
  ['kinesis', 'stream_arn'],
  ['cloudwatch_logs', 'log_group_arn'],
] as const;

test.each(kinds)('regions and partitions of %s', async (kind, member) => {
  const target = targetOf(cloud, kind) as Record<string, Record<string, string>>;
  const arn = target[kind]?.[member] ?? '';
  // Log groups may have / and # in their names, which are sent in the body alone.
  const tried = [
    ...evil.map((text) => arn.replace(REGION, text)),
    ...evil
      .map((text) => arn.replace('arn:aws:', `arn:${text}:`))
      .filter((text) => text !== arn && !text.startsWith('arn:aws:')),
    ...evil.map((text) => arn.replace('123456789012', text)),
    ...['cn-north-1', 'us-gov-west-1'].map((region) => arn.replace(REGION, region)),
    ...['arn:aws-cn:', 'arn:aws-us-gov:', 'arn:aws-iso:', 'ARN:aws:', 'x:arn:aws:'].map((start) =>
      arn.replace('arn:aws:', start),
    ),
    ...['?x=1', '\n', '@evil.org', ' x', ...(kind === 'cloudwatch_logs' ? [] : ['/../x', '#x'])].map((end) =>
      arn.replace('events', `events${end}`),
    ),
    ...kinds
      .filter(([other]) => other !== kind)
      .map(([other]) => JSON.stringify(targetOf(cloud, other)).match(/arn:[^"]+/)?.[0]),
  ];
  for (const text of tried) {
    const { status, body } = await create({ [kind]: { ...target[kind], [member]: text } });
    expect([text, status], body.msg).toEqual([text, 400]);
  }
});

test('roles', async () => {
  const role = 'arn:aws:iam::123456789012:role/x';
  const { kinesis } = targetOf(cloud, 'kinesis') as { kinesis: object };
  const tried = [
    ...['iam:evil.org', 'iam.evil.org:', 'sts:'].map((text) => role.replace('iam:', text)),
    ...['arn:evil.org:', 'arn:aws-evil:', 'arn::', 'x'].map((text) => role.replace('arn:aws:', text)),
    ...['', 'x', `${role}\n`, `${role} x`, role.replace('role/', 'user/'), role.replace('123456789012', '1')],
  ];
  for (const role_arn of tried) {
    const { status } = await create({ kinesis: { ...kinesis, auth: { role: { role_arn } } } });
    expect([role_arn, status]).toEqual([role_arn, 400]);
  }
});

test('sites of Datadog', async () => {
  const sites = [
    ...evil.filter((text) => text.trim() !== '/' && text !== ''),
    'datadoghq.com.evil.org',
    'evil.datadoghq.com',
  ];
  const more = [
    'datadoghq.com/x',
    'datadoghq.com#',
    'datadoghq.com:444',
    'x@datadoghq.com',
    'http://datadoghq.com',
    'datadoghq.com.',
  ];
  const odd = [
    'https://https://datadoghq.com',
    'app.app.datadoghq.com',
    'DATADOGHQ.COM',
    'datadoghq.com\n',
    'datadoghq.com?',
  ];
  for (const ddsite of [...sites, ...more, ...odd]) {
    const { status, body } = await create({ datadog: { api_key: 'key', ddsite } });
    expect([ddsite, status], body.msg).toEqual([ddsite, 400]);
  }
});

test('addresses of Azure', async () => {
  const { azure_logs_ingestion: azure } = targetOf(cloud, 'azure_logs_ingestion') as Record<string, object>;
  const host = 'a.ingest.monitor.azure.com';
  const uris = [
    ...[
      '',
      'https://',
      `http://${host}`,
      host,
      `https://${host}.evil.org`,
      `https://evil.org/${host}`,
      `https://evil.org#${host}`,
    ],
    ...[
      `https://evil.org?${host}`,
      `https://${host}@evil.org`,
      `https://x@${host}`,
      `https://x:y@${host}`,
      `https://${host}:444`,
    ],
    ...[
      `https://${host}/x`,
      `https://${host}?x`,
      `https://${host}#x`,
      `https://${host}.`,
      `https://A.INGEST.monitor.azure.com`,
    ],
    ...[
      'https://ingest.monitor.azure.com',
      'https://evilingest.monitor.azure.com',
      'https://.ingest.monitor.azure.com',
    ],
    ...[
      'https://a..ingest.monitor.azure.com',
      'https://-.ingest.monitor.azure.com',
      'https://a_b.ingest.monitor.azure.com',
    ],
    ...[
      'https://evil.org\\.ingest.monitor.azure.com',
      'https://evil.org%2f.ingest.monitor.azure.com',
      `https://${host}\n`,
    ],
    ...[
      'https://127.0.0.1',
      'https://[::1]',
      'https://a.ingest.monitor.azure.de',
      `https://а.${host}`,
      `https:/${host}`,
      `//${host}`,
    ],
  ];
  for (const logs_ingestion_uri of uris) {
    const { status, body } = await create({ azure_logs_ingestion: { ...azure, logs_ingestion_uri } });
    expect([logs_ingestion_uri, status], body.msg).toEqual([logs_ingestion_uri, 400]);
  }
  // These are parts of paths: at the login, and at the ingestion.
  const id = '11111111-2222-3333-4444-555555555555';
  const parts = [
    '',
    'common',
    `${id}/..`,
    `../../${id}`,
    `${id}\n`,
    `${id}?x`,
    'dcr-1',
    `dcr-${'0'.repeat(32)}/..`,
    'Custom-../x',
    'Custom-a?b',
    'x',
  ];
  for (const member of ['tenant_id', 'client_id', 'data_collection_rule_id', 'data_collection_stream_name']) {
    for (const text of parts) {
      const { status } = await create({ azure_logs_ingestion: { ...azure, [member]: text } });
      expect([member, text, status]).toEqual([member, text, 400]);
    }
  }
});
