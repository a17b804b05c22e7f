// The kinds of targets, and the members of each.

import { allOf, maxBytes } from '../../../ui/forms/validators.ts';
import { matches, newSigningSecret, validateArn, validatePairs, validateUuid } from './target-validators.ts';

export type TargetKind = keyof typeof targetKinds;

/** How the gateway authenticates with AWS. */
export type AwsAuth = 'role' | 'creds';

export interface TargetMember {
  /** The path of the member in the API, below the kind: `auth.role.roleArn`. */
  path: string;
  label: string;
  help?: string;
  placeholder?: string;
  /** A secret cannot be read afterwards. An empty input keeps it. */
  isSecret?: boolean;
  isOptional?: boolean;
  /** Shown only for this kind of authentication. */
  awsAuth?: AwsAuth;
  /** Whether it is a list of names and values, which the form has as lines of `name: value`. */
  isList?: boolean;
  validate?: (value: string) => string | null;
  /** Generates the secret. It is shown once, with advice on its use. */
  generator?: { generate: () => string; secretName: string; advice: string };
}

interface TargetKindForm {
  title: string;
  /** The member that identifies a target of this kind in a summary. */
  main: string;
  members: readonly TargetMember[];
}

const MEMBER_MAX_BYTES = 255;

export const awsAuthOptions = [
  { value: 'role', title: 'It assumes a role' },
  { value: 'creds', title: 'With an access key' },
];

const aws: readonly TargetMember[] = [
  {
    path: 'auth.role.roleArn',
    label: 'ARN of the role',
    placeholder: 'arn:aws:iam::123456789012:role/delivery',
    help: 'The gateway needs AWS credentials of its own that may assume it.',
    awsAuth: 'role',
    validate: validateArn,
  },
  { path: 'auth.creds.awsAccessKeyId', label: 'Id of the access key', awsAuth: 'creds' },
  { path: 'auth.creds.awsSecretAccessKey', label: 'Secret access key', isSecret: true, awsAuth: 'creds' },
];

export const targetKinds = {
  webhook: {
    title: 'Webhook',
    main: 'url',
    members: [
      {
        path: 'url',
        label: 'URL',
        placeholder: 'https://events.example.com/gateway',
        help: 'Events are POSTed there. The gateway’s operator says which hosts may be named (EVENT_WEBHOOK_HOSTS).',
        validate: allOf(matches(/^https:\/\//, 'This must begin with https://.'), maxBytes(2048)),
      },
      {
        path: 'signingSecret',
        label: 'Signing secret',
        help: 'Requests are signed with it (Standard Webhooks): 16 bytes at least, as they are or, after whsec_, in base64.',
        isSecret: true,
        generator: {
          generate: newSigningSecret,
          secretName: 'signing secret',
          advice:
            'Give it to the program that receives the events: it checks with it that they come from this gateway ' +
            '(Standard Webhooks, header webhook-signature).',
        },
      },
    ],
  },
  otlp: {
    title: 'OpenTelemetry (OTLP)',
    main: 'endpoint',
    members: [
      {
        path: 'endpoint',
        label: 'Endpoint',
        placeholder: 'https://collector.example.com:4318',
        help: 'Logs are POSTed there, to /v1/logs if it has no path. The gateway’s operator says which hosts may be named (EVENT_WEBHOOK_HOSTS).',
        validate: allOf(matches(/^https?:\/\//, 'This must begin with https:// or http://.'), maxBytes(2048)),
      },
      {
        path: 'headers',
        label: 'Header fields',
        placeholder: 'authorization: Bearer …',
        help: 'One on each line, as name: value. Nobody can read the values here afterwards; one left empty stays as it is, unless the target leads somewhere else.',
        isList: true,
        isOptional: true,
        validate: validatePairs,
      },
      {
        path: 'compression',
        label: 'Compression',
        placeholder: 'none',
        help: 'gzip or none.',
        isOptional: true,
        validate: matches(/^(gzip|none)$/, 'This must be gzip or none.'),
      },
      {
        path: 'resourceAttributes',
        label: 'Resource attributes',
        placeholder: 'service.name: tunnel-gateway',
        help: 'One on each line, as name: value.',
        isList: true,
        isOptional: true,
        validate: validatePairs,
      },
    ],
  },
  file: {
    title: 'File',
    main: 'name',
    members: [
      {
        path: 'name',
        label: 'Name of the file',
        placeholder: 'events.log',
        help: 'In the directory of the gateway’s machine that its operator has set (EVENT_FILE_DIR).',
        validate: matches(
          /^[a-z0-9][a-z0-9._-]{0,99}$/i,
          'This must be a bare name: letters, digits, “.”, “_” and “-”, at most 100.',
        ),
      },
    ],
  },
  kinesis: {
    title: 'Amazon Kinesis',
    main: 'streamArn',
    members: [
      {
        path: 'streamArn',
        label: 'ARN of the stream',
        placeholder: 'arn:aws:kinesis:eu-central-1:123456789012:stream/events',
        validate: validateArn,
      },
      ...aws,
    ],
  },
  firehose: {
    title: 'Amazon Data Firehose',
    main: 'deliveryStreamArn',
    members: [
      {
        path: 'deliveryStreamArn',
        label: 'ARN of the delivery stream',
        placeholder: 'arn:aws:firehose:eu-central-1:123456789012:deliverystream/events',
        validate: validateArn,
      },
      ...aws,
    ],
  },
  cloudwatchLogs: {
    title: 'Amazon CloudWatch Logs',
    main: 'logGroupArn',
    members: [
      {
        path: 'logGroupArn',
        label: 'ARN of the log group',
        placeholder: 'arn:aws:logs:eu-central-1:123456789012:log-group:events',
        validate: validateArn,
      },
      ...aws,
    ],
  },
  datadog: {
    title: 'Datadog',
    main: 'ddsite',
    members: [
      { path: 'apiKey', label: 'API key', isSecret: true },
      { path: 'ddsite', label: 'Site', placeholder: 'datadoghq.com', isOptional: true },
      {
        path: 'ddtags',
        label: 'Tags',
        placeholder: 'env:prod,site:a',
        help: 'Sent with each event.',
        isOptional: true,
        validate: maxBytes(4096),
      },
      {
        path: 'service',
        label: 'Service',
        help: 'Sent with each event.',
        isOptional: true,
        validate: maxBytes(MEMBER_MAX_BYTES),
      },
    ],
  },
  azureLogsIngestion: {
    title: 'Azure Monitor',
    main: 'logsIngestionUri',
    members: [
      { path: 'tenantId', label: 'Tenant id', validate: validateUuid },
      { path: 'clientId', label: 'Client id', help: 'Of the application that may send.', validate: validateUuid },
      { path: 'clientSecret', label: 'Client secret', isSecret: true },
      {
        path: 'logsIngestionUri',
        label: 'Logs ingestion URI',
        placeholder: 'https://events-a1b2.westeurope-1.ingest.monitor.azure.com',
        help: 'Of the data collection endpoint.',
      },
      {
        path: 'dataCollectionRuleId',
        label: 'Immutable id of the data collection rule',
        placeholder: 'dcr-00000000000000000000000000000000',
        validate: matches(/^dcr-[0-9a-f]{32}$/, 'This must be dcr- and 32 hexadecimal digits.'),
      },
      { path: 'dataCollectionStreamName', label: 'Stream', placeholder: 'Custom-Events', help: 'Of that rule.' },
    ],
  },
} as const satisfies Record<string, TargetKindForm>;

export const targetKindNames = Object.keys(targetKinds) as TargetKind[];

/** The kind that is selected in the form of a new destination. */
export const defaultKind: TargetKind = 'webhook';

export function targetKindForm(kind: TargetKind): TargetKindForm {
  return targetKinds[kind];
}

/** The validator of a member. A stored secret may be left empty. */
export function memberValidator(
  { validate, isOptional }: TargetMember,
  hasStoredSecret: boolean,
): (value: string) => string | null {
  return (value) => {
    if (value.trim() === '') return isOptional || hasStoredSecret ? null : 'This is needed.';
    return validate?.(value.trim()) ?? null;
  };
}
