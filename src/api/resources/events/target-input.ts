// The targets of event destinations, as they are given. Every member may be null, because clients send back what they
// were shown; which are required is checked in event-target-check.ts, in words of its own.

import { builder } from '../../builder.ts';

const keepHelp = 'When an update leaves it out, the stored one stays, unless the target leads somewhere else.';

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
      description: 'Required. The stream of the rule: `Custom-…` or `Microsoft-…`, at most 255 bytes.',
    }),
  }),
});

const WebhookTargetInput = builder.inputType('WebhookTargetInput', {
  description: 'An HTTP server of your own. An addition to the specification.',
  fields: (t) => ({
    url: t.string({
      description:
        'Required. Where to POST events: `https://…`, at most 2048 bytes, at a host that the gateway’s operator allows ' +
        '(`EVENT_WEBHOOK_HOSTS`).',
    }),
    signingSecret: t.string({
      description:
        'Required. What requests are signed with (Standard Webhooks): 16 to 1024 bytes, as they are or, after `whsec_`, ' +
        `in base64. ${keepHelp}`,
    }),
  }),
});

const FileTargetInput = builder.inputType('FileTargetInput', {
  description: 'A file of the gateway’s machine. An addition to the specification.',
  fields: (t) => ({
    name: t.string({
      description:
        'Required. The bare name of a file in your account’s directory below the one that the gateway’s operator has set (`EVENT_FILE_DIR`): at ' +
        'most 100 letters, digits, `.`, `_` and `-`.',
    }),
  }),
});

export const EventTargetInput = builder.inputType('EventTargetInput', {
  description: 'Where to send events: set one member, and leave out the others or set them to null.',
  fields: (t) => ({
    firehose: t.field({ type: FirehoseTargetInput, description: 'A Firehose delivery stream.' }),
    kinesis: t.field({ type: KinesisTargetInput, description: 'A Kinesis stream.' }),
    cloudwatchLogs: t.field({ type: CloudwatchLogsTargetInput, description: 'A CloudWatch log group.' }),
    datadog: t.field({ type: DatadogTargetInput, description: 'The logs of Datadog.' }),
    azureLogsIngestion: t.field({ type: AzureLogsIngestionTargetInput, description: 'Azure Monitor.' }),
    webhook: t.field({
      type: WebhookTargetInput,
      description: 'An HTTP server of your own. An addition to the specification.',
    }),
    file: t.field({
      type: FileTargetInput,
      description: 'A file of the gateway’s machine. An addition to the specification.',
    }),
  }),
});
