// The targets of event destinations (specification section 2.5), as they are shown and as they are given.

import { builder } from './builder.ts';
import type { AwsAuth, Target } from './event-secrets.ts';

const secretHelp = 'Only the answer to `createEventDestination` has it; nobody can read it afterwards.';
const keepHelp = 'When an update leaves it out, the stored one stays, unless the target leads somewhere else.';

const AwsRole = builder.objectRef<NonNullable<AwsAuth['role']>>('AwsRole').implement({
  description: 'A role that the gateway assumes to deliver events.',
  fields: (t) => ({
    roleArn: t.exposeString('roleArn', { description: 'The ARN of the role.' }),
  }),
});

const AwsCredentials = builder.objectRef<NonNullable<AwsAuth['creds']>>('AwsCredentials').implement({
  description: 'Long-term access keys of AWS.',
  fields: (t) => ({
    awsAccessKeyId: t.exposeString('awsAccessKeyId', { description: 'The id of the access key.' }),
    awsSecretAccessKey: t.exposeString('awsSecretAccessKey', {
      nullable: true,
      description: `The secret access key. ${secretHelp}`,
    }),
  }),
});

const AwsAuthType = builder.objectRef<AwsAuth>('AwsAuth').implement({
  description: 'How the gateway proves itself to AWS: one member is set, the other is null.',
  fields: (t) => ({
    role: t.expose('role', { type: AwsRole, nullable: true, description: 'A role to assume.' }),
    creds: t.expose('creds', { type: AwsCredentials, nullable: true, description: 'Access keys.' }),
  }),
});

const FirehoseTarget = builder.objectRef<NonNullable<Target['firehose']>>('FirehoseTarget').implement({
  description: 'A delivery stream of Amazon Data Firehose.',
  fields: (t) => ({
    auth: t.expose('auth', { type: AwsAuthType, description: 'How the gateway proves itself.' }),
    deliveryStreamArn: t.exposeString('deliveryStreamArn', { description: 'The ARN of the delivery stream.' }),
  }),
});

const KinesisTarget = builder.objectRef<NonNullable<Target['kinesis']>>('KinesisTarget').implement({
  description: 'A stream of Amazon Kinesis.',
  fields: (t) => ({
    auth: t.expose('auth', { type: AwsAuthType, description: 'How the gateway proves itself.' }),
    streamArn: t.exposeString('streamArn', { description: 'The ARN of the stream.' }),
  }),
});

const CloudwatchLogsTarget = builder
  .objectRef<NonNullable<Target['cloudwatchLogs']>>('CloudwatchLogsTarget')
  .implement({
    description: 'A log group of Amazon CloudWatch Logs.',
    fields: (t) => ({
      auth: t.expose('auth', { type: AwsAuthType, description: 'How the gateway proves itself.' }),
      logGroupArn: t.exposeString('logGroupArn', { description: 'The ARN of the log group.' }),
    }),
  });

const DatadogTarget = builder.objectRef<NonNullable<Target['datadog']>>('DatadogTarget').implement({
  description: 'The logs of Datadog.',
  fields: (t) => ({
    apiKey: t.exposeString('apiKey', { nullable: true, description: `The API key of Datadog. ${secretHelp}` }),
    ddtags: t.exposeString('ddtags', { nullable: true, description: 'Tags sent with each event, as `env:prod,site:a`.' }),
    service: t.exposeString('service', { nullable: true, description: 'The service name sent with each event.' }),
    ddsite: t.exposeString('ddsite', { description: 'The site to send to, as `datadoghq.eu`.' }),
  }),
});

const AzureLogsIngestionTarget = builder
  .objectRef<NonNullable<Target['azureLogsIngestion']>>('AzureLogsIngestionTarget')
  .implement({
    description: 'The Logs Ingestion API of Azure Monitor.',
    fields: (t) => ({
      tenantId: t.exposeString('tenantId', { description: 'The id of the tenant.' }),
      clientId: t.exposeString('clientId', { description: 'The id of the application.' }),
      clientSecret: t.exposeString('clientSecret', {
        nullable: true,
        description: `The secret of the application. ${secretHelp}`,
      }),
      logsIngestionUri: t.exposeString('logsIngestionUri', {
        description: 'The logs ingestion URI of the data collection endpoint.',
      }),
      dataCollectionRuleId: t.exposeString('dataCollectionRuleId', {
        description: 'The immutable id of the data collection rule.',
      }),
      dataCollectionStreamName: t.exposeString('dataCollectionStreamName', {
        description: 'The stream of the rule that events go to.',
      }),
    }),
  });

export const EventTarget = builder.objectRef<Target>('EventTarget').implement({
  description: 'Where events are sent: one member is set, the others are null.',
  fields: (t) => ({
    firehose: t.expose('firehose', { type: FirehoseTarget, nullable: true, description: 'A Firehose delivery stream.' }),
    kinesis: t.expose('kinesis', { type: KinesisTarget, nullable: true, description: 'A Kinesis stream.' }),
    cloudwatchLogs: t.expose('cloudwatchLogs', {
      type: CloudwatchLogsTarget,
      nullable: true,
      description: 'A CloudWatch log group.',
    }),
    datadog: t.expose('datadog', { type: DatadogTarget, nullable: true, description: 'Datadog.' }),
    azureLogsIngestion: t.expose('azureLogsIngestion', {
      type: AzureLogsIngestionTarget,
      nullable: true,
      description: 'Azure Monitor.',
    }),
  }),
});

/** What a REST answer shows of a target. */
export const targetSelection = (() => {
  const auth = 'auth { role { roleArn } creds { awsAccessKeyId awsSecretAccessKey } }';
  const azure = 'tenantId clientId clientSecret logsIngestionUri dataCollectionRuleId dataCollectionStreamName';
  return (
    `target { firehose { ${auth} deliveryStreamArn } kinesis { ${auth} streamArn } ` +
    `cloudwatchLogs { ${auth} logGroupArn } datadog { apiKey ddtags service ddsite } azureLogsIngestion { ${azure} } }`
  );
})();

const AwsRoleInput = builder.inputType('AwsRoleInput', {
  description: 'A role that the gateway assumes to deliver events.',
  fields: (t) => ({
    roleArn: t.string({ description: 'Required. The ARN of the role, as `arn:aws:iam::123456789012:role/delivery`.' }),
  }),
});

const AwsCredentialsInput = builder.inputType('AwsCredentialsInput', {
  description: 'Long-term access keys of AWS.',
  fields: (t) => ({
    awsAccessKeyId: t.string({ description: 'Required. The id of the access key: 16 to 128 letters and digits.' }),
    awsSecretAccessKey: t.string({
      description: `Required. The secret access key; at most 1024 bytes. ${keepHelp}`,
    }),
  }),
});

const AwsAuthInput = builder.inputType('AwsAuthInput', {
  description: 'How the gateway proves itself to AWS: set one member, and leave out the other or set it to null.',
  fields: (t) => ({
    role: t.field({ type: AwsRoleInput, description: 'A role to assume.' }),
    creds: t.field({ type: AwsCredentialsInput, description: 'Access keys.' }),
  }),
});

const FirehoseTargetInput = builder.inputType('FirehoseTargetInput', {
  description: 'A delivery stream of Amazon Data Firehose.',
  fields: (t) => ({
    auth: t.field({ type: AwsAuthInput, description: 'Required. How the gateway proves itself.' }),
    deliveryStreamArn: t.string({ description: 'Required. The ARN of the delivery stream.' }),
  }),
});

const KinesisTargetInput = builder.inputType('KinesisTargetInput', {
  description: 'A stream of Amazon Kinesis.',
  fields: (t) => ({
    auth: t.field({ type: AwsAuthInput, description: 'Required. How the gateway proves itself.' }),
    streamArn: t.string({ description: 'Required. The ARN of the stream.' }),
  }),
});

const CloudwatchLogsTargetInput = builder.inputType('CloudwatchLogsTargetInput', {
  description: 'A log group of Amazon CloudWatch Logs.',
  fields: (t) => ({
    auth: t.field({ type: AwsAuthInput, description: 'Required. How the gateway proves itself.' }),
    logGroupArn: t.string({ description: 'Required. The ARN of the log group.' }),
  }),
});

const DatadogTargetInput = builder.inputType('DatadogTargetInput', {
  description: 'The logs of Datadog.',
  fields: (t) => ({
    apiKey: t.string({ description: `Required. An API key of Datadog; at most 1024 bytes. ${keepHelp}` }),
    ddtags: t.string({ description: 'Tags to send with each event, as `env:prod,site:a`; at most 4096 bytes.' }),
    service: t.string({ description: 'The service name to send with each event; at most 255 bytes.' }),
    ddsite: t.string({ description: 'The site to send to, as `datadoghq.eu`; `datadoghq.com` when left out.' }),
  }),
});

const AzureLogsIngestionTargetInput = builder.inputType('AzureLogsIngestionTargetInput', {
  description: 'The Logs Ingestion API of Azure Monitor.',
  fields: (t) => ({
    tenantId: t.string({ description: 'Required. The id of the tenant, a UUID.' }),
    clientId: t.string({ description: 'Required. The id of the application, a UUID.' }),
    clientSecret: t.string({ description: `Required. The secret of the application; at most 1024 bytes. ${keepHelp}` }),
    logsIngestionUri: t.string({
      description:
        'Required. The logs ingestion URI of the data collection endpoint, as ' +
        '`https://events-a1b2.westeurope-1.ingest.monitor.azure.com`.',
    }),
    dataCollectionRuleId: t.string({
      description: 'Required. The immutable id of the data collection rule: `dcr-` and 32 hexadecimal digits.',
    }),
    dataCollectionStreamName: t.string({
      description: 'Required. The stream of the rule: `Custom-…` or `Microsoft-…`, at most 128 bytes.',
    }),
  }),
});

export const EventTargetInput = builder.inputType('EventTargetInput', {
  description: 'Where to send events: set one member, and leave out the others or set them to null.',
  fields: (t) => ({
    firehose: t.field({ type: FirehoseTargetInput, description: 'A Firehose delivery stream.' }),
    kinesis: t.field({ type: KinesisTargetInput, description: 'A Kinesis stream.' }),
    cloudwatchLogs: t.field({ type: CloudwatchLogsTargetInput, description: 'A CloudWatch log group.' }),
    datadog: t.field({ type: DatadogTargetInput, description: 'Datadog.' }),
    azureLogsIngestion: t.field({ type: AzureLogsIngestionTargetInput, description: 'Azure Monitor.' }),
  }),
});
