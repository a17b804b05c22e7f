// The targets of event destinations, as they are shown (specification section 2.5).

import type { AwsAuth, Target } from '../../../events/target.ts';
import { builder } from '../../builder.ts';

const secretHelp = 'Only the answer to `createEventDestination` has it; nobody can read it afterwards.';

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
    ddtags: t.exposeString('ddtags', {
      nullable: true,
      description: 'Tags sent with each event, as `env:prod,site:a`.',
    }),
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

const WebhookTarget = builder.objectRef<NonNullable<Target['webhook']>>('WebhookTarget').implement({
  description: 'An HTTP server of your own. An addition to the specification.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'Where events are POSTed.' }),
    signingSecret: t.exposeString('signingSecret', {
      nullable: true,
      description: `What requests are signed with. ${secretHelp}`,
    }),
  }),
});

const FileTarget = builder.objectRef<NonNullable<Target['file']>>('FileTarget').implement({
  description: 'A file of the gateway’s machine. An addition to the specification.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name in the directory that the gateway’s operator has set.' }),
  }),
});

export const EventTarget = builder.interfaceRef<Target>('EventTarget').implement({
  description: 'Where events are sent: one member is set, the others are null.',
  fields: (t) => ({
    firehose: t.expose('firehose', {
      type: FirehoseTarget,
      nullable: true,
      description: 'A Firehose delivery stream.',
    }),
    kinesis: t.expose('kinesis', { type: KinesisTarget, nullable: true, description: 'A Kinesis stream.' }),
    cloudwatchLogs: t.expose('cloudwatchLogs', {
      type: CloudwatchLogsTarget,
      nullable: true,
      description: 'A CloudWatch log group.',
    }),
    datadog: t.expose('datadog', { type: DatadogTarget, nullable: true, description: 'The logs of Datadog.' }),
    azureLogsIngestion: t.expose('azureLogsIngestion', {
      type: AzureLogsIngestionTarget,
      nullable: true,
      description: 'Azure Monitor.',
    }),
    webhook: t.expose('webhook', {
      type: WebhookTarget,
      nullable: true,
      description: 'An HTTP server of your own. An addition to the specification; REST shows it only where it is set.',
    }),
    file: t.expose('file', {
      type: FileTarget,
      nullable: true,
      description:
        'A file of the gateway’s machine. An addition to the specification; REST shows it only where it is set.',
    }),
  }),
  resolveType: ({ webhook, file }) =>
    webhook ? 'WebhookEventTarget' : file ? 'FileEventTarget' : 'SpecifiedEventTarget',
});

// That additions have types of their own lets a selection show them only where they are set.
const kinds = {
  SpecifiedEventTarget: 'A target of the specification.',
  WebhookEventTarget: 'A target whose `webhook` is set. An addition to the specification.',
  FileEventTarget: 'A target whose `file` is set. An addition to the specification.',
};
for (const [name, description] of Object.entries(kinds))
  builder.objectRef<Target>(name).implement({ description, interfaces: [EventTarget] });

/** What a REST answer shows of a target. */
export const targetSelection = (() => {
  const auth = 'auth { role { roleArn } creds { awsAccessKeyId awsSecretAccessKey } }';
  const azure = 'tenantId clientId clientSecret logsIngestionUri dataCollectionRuleId dataCollectionStreamName';
  return (
    `target { firehose { ${auth} deliveryStreamArn } kinesis { ${auth} streamArn } ` +
    `cloudwatchLogs { ${auth} logGroupArn } datadog { apiKey ddtags service ddsite } azureLogsIngestion { ${azure} } ` +
    '... on WebhookEventTarget { webhook { url signingSecret } } ... on FileEventTarget { file { name } } }'
  );
})();
