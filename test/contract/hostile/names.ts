// Targets of event destinations and names to reserve that must be refused.

import { parts } from '../rows/targets.ts';
import { type HostileCase, withMember, wrong } from './case.ts';

const { role, creds, deliveryStream, stream, logGroup, datadog, azure, webhook, file } = parts;
const account = '123456789012';

/** Both the creation and an update, with this target whole. */
function target(value: object, number: number, blamed: string): HostileCase[] {
  return (['createDestination', 'updateDestination'] as const).map((name) =>
    wrong(name, 'target', value, number, { blamed }),
  );
}

const firehose = { auth: role, ...deliveryStream };
const kinesis = { auth: creds, ...stream };
const logs = { auth: creds, ...logGroup };

const howMany = [
  ...target({}, 5100, 'target'),
  ...target({ datadog: null, kinesis: null }, 5100, 'target'),
  ...target({ datadog, kinesis }, 5115, 'target'),
  ...target({ firehose, azure_logs_ingestion: {} }, 5115, 'target'),
  wrong('createDestination', 'target', undefined, 5100),
  wrong('createDestination', 'target', null, 5100),
  ...target({ s3: { bucket_arn: 'arn:aws:s3:::x' } }, 214, 'target.s3'),
];

const auths = [
  ...target({ kinesis: stream }, 5106, 'target.kinesis.auth'),
  ...target({ kinesis: { ...stream, auth: {} } }, 5107, 'target.kinesis.auth'),
  ...target({ firehose: { ...deliveryStream, auth: { role: null, creds: null } } }, 5107, 'target.firehose.auth'),
  ...target({ cloudwatch_logs: { ...logGroup, auth: { ...role, ...creds } } }, 5116, 'target.cloudwatch_logs.auth'),
];

/** A good target with one member of it wrong. */
function bad(kind: string, good: object, member: string, value: unknown, number: number): HostileCase[] {
  return target({ [kind]: withMember(good, member, value) }, number, `target.${kind}.${member}`);
}

const arn = (partition: string, service: string, region: string, id: string, resource: string) =>
  `arn:${partition}:${service}:${region}:${id}:${resource}`;

const arns = [
  ['', 90060],
  [undefined, 90060],
  ['stream/events', 5120],
  ['arn:aws:kinesis', 5120],
  [`ARN:aws:kinesis:us-east-1:${account}:stream/events`, 5120],
  [arn('aws-mars', 'kinesis', 'us-east-1', account, 'stream/events'), 5118],
  [arn('', 'kinesis', 'us-east-1', account, 'stream/events'), 5118],
  [arn('aws', 'firehose', 'us-east-1', account, 'stream/events'), 5119],
  [arn('aws', '', 'us-east-1', account, 'stream/events'), 5119],
  [arn('aws', 'kinesis', '', account, 'stream/events'), 90069],
  [arn('aws', 'kinesis', 'cn-north-1', account, 'stream/events'), 90069],
  [arn('aws', 'kinesis', 'us-east-1.evil.example', account, 'stream/events'), 90069],
  [arn('aws', 'kinesis', 'us-east-1#', account, 'stream/events'), 90069],
  [arn('aws', 'kinesis', 'us-east-1', '12345678901', 'stream/events'), 90070],
  [arn('aws', 'kinesis', 'us-east-1', account, 'stream/'), 5129],
  [arn('aws', 'kinesis', 'us-east-1', account, 'deliverystream/events'), 5129],
  [arn('aws', 'kinesis', 'us-east-1', account, `stream/${'x'.repeat(129)}`), 5129],
  [arn('aws', 'kinesis', 'us-east-1', account, 'stream/a b'), 5129],
  [arn('aws', 'kinesis', 'us-east-1', account, `stream/${'x'.repeat(2048)}`), 90061],
  [`${arn('aws', 'kinesis', 'us-east-1', account, 'stream/events')}\n`, 5129],
] as const;

const aws = [
  ...arns.flatMap(([value, number]) => bad('kinesis', kinesis, 'stream_arn', value, number)),
  ...bad('firehose', firehose, 'delivery_stream_arn', logGroup.log_group_arn, 5119),
  ...bad('cloudwatch_logs', logs, 'log_group_arn', deliveryStream.delivery_stream_arn, 5119),
  ...bad('cloudwatch_logs', logs, 'log_group_arn', arn('aws', 'logs', 'us-east-1', account, 'log-stream:x'), 5129),
  ...[arn('aws', 'iam', '', account, 'user/x'), arn('aws', 'iam', 'us-east-1', account, 'role/x'), 'role/x'].flatMap(
    (value) => bad('firehose', firehose, 'auth.role.role_arn', value, 5104),
  ),
  ...bad('firehose', firehose, 'auth.role.role_arn', arn('aws-mars', 'iam', '', account, 'role/x'), 5104),
  ...bad('firehose', firehose, 'auth.role.role_arn', undefined, 90060),
  ...bad('kinesis', kinesis, 'auth.creds.aws_access_key_id', undefined, 90060),
  ...bad('kinesis', kinesis, 'auth.creds.aws_access_key_id', 'AKIA', 240),
  ...bad('kinesis', kinesis, 'auth.creds.aws_access_key_id', 'AKIAIOSFODNN7EXAMPL\n', 240),
  ...bad('kinesis', kinesis, 'auth.creds.aws_secret_access_key', 'x'.repeat(1025), 90061),
  ...bad('kinesis', kinesis, 'auth.creds.aws_secret_access_key', 'two words', 215),
];

const others = [
  ...bad('datadog', datadog, 'ddsite', 'evil.example.com', 5134),
  ...bad('datadog', datadog, 'ddsite', 'DATADOGHQ.EU', 5134),
  ...bad('datadog', datadog, 'ddtags', 'é'.repeat(2049), 90061),
  ...bad('datadog', datadog, 'service', 'é'.repeat(128), 90061),
  ...bad('datadog', datadog, 'api_key', 'clé', 215),
  ...bad('datadog', datadog, 'api_key', 'a\r\nX-Other: b', 215),
  ...bad('azure_logs_ingestion', azure, 'tenant_id', 'common', 90063),
  ...bad('azure_logs_ingestion', azure, 'tenant_id', undefined, 90060),
  ...bad('azure_logs_ingestion', azure, 'client_id', `${azure.client_id}/../x`, 90063),
  ...[
    'http://events.westeurope-1.ingest.monitor.azure.com',
    'https://ingest.monitor.azure.com',
    'https://evil.example.com',
    'https://events.ingest.monitor.azure.com.evil.example',
    'https://events.ingest.monitor.azure.com/path',
    'https://user@events.ingest.monitor.azure.com',
    'https://events.ingest.monitor.azure.com:8443',
  ].flatMap((uri) => bad('azure_logs_ingestion', azure, 'logs_ingestion_uri', uri, 90062)),
  ...bad('azure_logs_ingestion', azure, 'data_collection_rule_id', 'dcr-1', 90064),
  ...bad('azure_logs_ingestion', azure, 'data_collection_stream_name', 'Gateway_CL', 90065),
  ...bad('azure_logs_ingestion', azure, 'data_collection_stream_name', `Custom-${'x'.repeat(249)}`, 90061),
  ...bad('datadog', datadog, 'ddsite', 'https://app.datadoghq.com.evil.example', 5134),
  ...bad('datadog', datadog, 'ddsite', 'http://datadoghq.eu', 5134),
  ...bad('webhook', webhook, 'url', undefined, 90060),
  ...bad('webhook', webhook, 'signing_secret', 'too short', 215),
  ...bad('webhook', webhook, 'signing_secret', 'too-short', 90072),
  ...bad('webhook', webhook, 'signing_secret', `whsec_${'A'.repeat(21)}`, 90072),
  ...[
    'hooks.example.com',
    'ftp://hooks.example.com/',
    'http://hooks.example.com/',
    'https://user@hooks.example.com/',
    'https://example.com/',
    'https://a.hooks.example.com/',
    'https://hooks.example.com.evil.example/',
    'https://127.0.0.1/',
    'https://[::1]/',
  ].flatMap((url) => bad('webhook', webhook, 'url', url, 90071)),
  ...bad('webhook', webhook, 'url', `https://hooks.example.com/${'x'.repeat(2048)}`, 90061),
  wrong('createDestination', 'target', { webhook: { url: webhook.url } }, 90060, {
    blamed: 'target.webhook.signing_secret',
  }),
  ...['../../x', '.hidden', 'a/b', '/etc/passwd', 'a b', 'x'.repeat(101)].flatMap((name) =>
    bad('file', file, 'name', name, 90075),
  ),
  ...bad('file', file, 'name', '', 90060),
  wrong('createDestination', 'target', { datadog: {} }, 5133, { blamed: 'target.datadog.api_key' }),
  wrong('updateDestination', 'target', { datadog: { ddsite: 'datadoghq.com' } }, 90066, {
    blamed: 'target.datadog.api_key',
  }),
  wrong('updateDestination', 'target', { azure_logs_ingestion: { ...azure, client_secret: null } }, 90066, {
    blamed: 'target.azure_logs_ingestion.client_secret',
  }),
  ...(['createDestination', 'updateDestination'] as const).flatMap((name) => [
    wrong(name, 'format', 'xml', 235),
    wrong(name, 'format', 'JSON', 235),
  ]),
];

const domains: [string, number, number?][] = [
  ['', 90040],
  ['a.*.example.com', 402],
  ['*', 402],
  ['*a.example.com', 402],
  ['*.*.example.com', 402],
  ['a b.example.com', 406],
  ['https://a.example.com', 406],
  ['a.example.com:443', 406],
  ['a.example.com/', 406],
  ['a_b.example.com', 438],
  ['-a.example.com', 407],
  ['a-.example.com', 407],
  ['a..example.com', 409],
  ['.example.com', 409],
  ['a.example.com..', 409],
  ['ab--c.example.com', 410],
  ['printer.lan', 411],
  ['a.b.c.notatld', 411],
  [`${'a'.repeat(64)}.example.com`, 513],
  [`${'a.'.repeat(122)}example.com`, 514],
  ['example', 448],
  ['192.0.2.1', 90041],
  ['*.192.0.2.1', 90041],
  ['１９２.0.2.1', 90041],
  ['co.uk', 90042],
  ['*.com', 448],
  ['*.co.uk', 90042],
  ['a.cname.tunnel.localhost', 90043],
  ['*.acme.tunnel.localhost', 90043],
  ['xn--a.example.com', 90044],
  ['xn--abc-.example.com', 90044],
  ['a\u200eb.example.com', 90044],
  ['a\0.example.com', 215],
  ['tunnel.localhost', 450],
  ['*.tunnel.localhost', 416],
  ['*.localhost', 448],
  ['*.world.example.com', 413, 409],
  ['other.example.org', 414, 409],
  ['deep.below.other.example.org', 414, 409],
  ['*.example.org', 414, 409],
];

const ours = { domain: 'app.tunnel.localhost', certificate_management_policy: { authority: 'letsencrypt' } };
const policies = (['createDomain', 'updateDomain'] as const).flatMap((name) => [
  wrong(name, 'certificate_management_policy', { authority: 'zerossl' }, 435, {
    blamed: 'certificate_management_policy.authority',
  }),
  wrong(name, 'certificate_management_policy', { private_key_type: 'dsa' }, 1909, {
    blamed: 'certificate_management_policy.private_key_type',
  }),
]);
const reservations = [
  ...domains.map(([domain, number, status]) => wrong('createDomain', 'domain', domain, number, { status })),
  ...['x'.repeat(65), 'us east', 'ü', 'us_1'].map((region) => wrong('createDomain', 'region', region, 400)),
  ...policies,
  wrong('createDomain', 'certificate_management_policy', {}, 439, {
    title: 'a policy under the base domain',
    body: () => ours,
  }),
  wrong('updateDomain', 'domain', 'other.example.com', 214),
  wrong('updateDomain', 'region', 'eu', 214),
];

/** What another account has reserved, for the conflicts above. */
export const reservedByOthers = '*.other.example.org';

export const wrongNames = [...howMany, ...auths, ...aws, ...others, ...reservations];
