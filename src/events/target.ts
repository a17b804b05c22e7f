// Where events go (specification section 2.5).

export type AwsAuth = {
  role: { roleArn: string } | null;
  creds: { awsAccessKeyId: string; awsSecretAccessKey: string | null } | null;
};

/** Where events go: exactly one member is set. A secret is null where it was not given, or must not be seen. */
export type Target = {
  firehose?: { auth: AwsAuth; deliveryStreamArn: string };
  kinesis?: { auth: AwsAuth; streamArn: string };
  cloudwatchLogs?: { auth: AwsAuth; logGroupArn: string };
  datadog?: { apiKey: string | null; ddtags: string | null; service: string | null; ddsite: string };
  azureLogsIngestion?: {
    tenantId: string;
    clientId: string;
    clientSecret: string | null;
    logsIngestionUri: string;
    dataCollectionRuleId: string;
    dataCollectionStreamName: string;
  };
  /** An addition to the specification. */
  webhook?: { url: string; signingSecret: string | null };
  /** An addition to the specification: a file below `EVENT_FILE_DIR`, by its bare name. */
  file?: { name: string };
};

/** The kinds of target, as the specification calls them; the last two are additions. */
export const targetKinds = {
  firehose: 'firehose',
  kinesis: 'kinesis',
  cloudwatchLogs: 'cloudwatch_logs',
  datadog: 'datadog',
  azureLogsIngestion: 'azure_logs_ingestion',
  webhook: 'webhook',
  file: 'file',
} as const satisfies Record<keyof Target, string>;

export type TargetKind = (typeof targetKinds)[keyof Target];

export function kindOf(target: Target): TargetKind {
  const [kind] = Object.keys(target);
  return targetKinds[kind as keyof Target];
}
