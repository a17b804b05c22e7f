// One target of each kind for event destinations, as it is sent and as it is shown.

const account = '123456789012';
const role = { role: { role_arn: `arn:aws:iam::${account}:role/delivery` } };
const creds = { creds: { aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE', aws_secret_access_key: 'secret-of-aws' } };
const none = { firehose: null, kinesis: null, cloudwatch_logs: null, datadog: null, azure_logs_ingestion: null };

interface Example {
  sent: object;
  /** In the answer to the creation, and in every other. */
  created: object;
  later: object;
  /** Set for an addition to the specification, which is shown only where it is set: its members. */
  addition?: string;
}

const example = (kind: string, sent: object, created: object, later: object): Example => ({
  sent: { [kind]: sent },
  created: { ...none, [kind]: created },
  later: { ...none, [kind]: later },
});

const withRole = { auth: { ...role, creds: null } };
const withCreds = { auth: { role: null, ...creds } };
const withoutSecret = { auth: { role: null, creds: { ...creds.creds, aws_secret_access_key: null } } };

const deliveryStream = { delivery_stream_arn: `arn:aws:firehose:us-east-1:${account}:deliverystream/events` };
const stream = { stream_arn: `arn:aws-cn:kinesis:cn-north-1:${account}:stream/events` };
const logGroup = { log_group_arn: `arn:aws-us-gov:logs:us-gov-west-1:${account}:log-group:/gateway/events:*` };
const datadog = { api_key: 'secret-of-datadog', ddtags: 'env:test,site:a', service: 'gateway', ddsite: 'datadoghq.eu' };
const azure = {
  tenant_id: '4f9b3a52-0c1d-4b8e-9c40-0123456789ab',
  client_id: '9d2c7b61-5a3e-4f70-8b21-ba9876543210',
  client_secret: 'secret-of-azure',
  logs_ingestion_uri: 'https://events-a1b2.westeurope-1.ingest.monitor.azure.com',
  data_collection_rule_id: 'dcr-0123456789abcdef0123456789abcdef',
  data_collection_stream_name: 'Custom-Gateway_CL',
};

const webhook = { url: 'https://hooks.example.com/events', signing_secret: 'secret-of-webhook' };
const file = { name: 'events.jsonl' };
const otlp = {
  endpoint: 'https://hooks.example.com:4318',
  headers: [{ name: 'authorization', value: 'secret-of-the-collector' }],
  compression: 'gzip',
  resource_attributes: [{ name: 'service.name', value: 'gateway' }],
};

/** Each kind, and each way to prove oneself to AWS. */
export const examples: Record<string, Example> = {
  'firehose by role': example(
    'firehose',
    { auth: role, ...deliveryStream },
    { ...withRole, ...deliveryStream },
    { ...withRole, ...deliveryStream },
  ),
  'kinesis by access key': example(
    'kinesis',
    { auth: creds, ...stream },
    { ...withCreds, ...stream },
    { ...withoutSecret, ...stream },
  ),
  'cloudwatch_logs by access key': example(
    'cloudwatch_logs',
    { auth: { ...creds, role: null }, ...logGroup },
    { ...withCreds, ...logGroup },
    { ...withoutSecret, ...logGroup },
  ),
  datadog: example('datadog', datadog, datadog, { ...datadog, api_key: null }),
  'datadog with its key alone': example(
    'datadog',
    { api_key: 'secret-of-datadog' },
    { api_key: 'secret-of-datadog', ddtags: null, service: null, ddsite: 'datadoghq.com' },
    { api_key: null, ddtags: null, service: null, ddsite: 'datadoghq.com' },
  ),
  azure_logs_ingestion: example('azure_logs_ingestion', azure, azure, { ...azure, client_secret: null }),
  webhook: {
    ...example('webhook', webhook, webhook, { ...webhook, signing_secret: null }),
    addition: 'webhook { url signing_secret }',
  },
  file: { ...example('file', file, file, file), addition: 'file { name }' },
  otlp: {
    ...example('otlp', otlp, otlp, { ...otlp, headers: [{ name: 'authorization', value: null }] }),
    addition: 'otlp { endpoint headers { name value } compression resource_attributes { name value } }',
  },
};

export const parts = { role, creds, deliveryStream, stream, logGroup, datadog, azure, webhook, file };
