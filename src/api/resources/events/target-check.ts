// What a target of an event destination must be like. What is let through here decides which hosts the gateway calls.

import { isFileName } from '../../../events/sinks/file.ts';
import { isUrlAllowed } from '../../../events/sinks/http/allowed-hosts.ts';
import { type AwsAuth, type Target, targetKinds } from '../../../events/target.ts';
import { ApiError, type ErrorName, type Parameters } from '../../errors.ts';
import type { ApiSettings } from '../../settings.ts';
import { checkBytes } from '../../texts.ts';
import { checkArn, checkRoleArn, deliveryStream, logGroup, stream } from './arn.ts';
import type { EventTargetInput } from './target-input.ts';

type TargetInput = typeof EventTargetInput.$inferInput;
type Text = string | null | undefined;
/** What the operator allows. */
type Allowed = Pick<ApiSettings, 'eventWebhookHosts' | 'eventFileDir'>;

const DATADOG_SITES = [
  'datadoghq.com',
  'us3.datadoghq.com',
  'us5.datadoghq.com',
  'datadoghq.eu',
  'ap1.datadoghq.com',
  'ap2.datadoghq.com',
  'uk1.datadoghq.com',
  'ddog-gov.com',
  'us2.ddog-gov.com',
] as const;

const AZURE_HOSTS = ['ingest.monitor.azure.com', 'ingest.monitor.azure.us', 'ingest.monitor.azure.cn'];
const AZURE_URI = /^https:\/\/([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.){1,8}ingest\.monitor\.azure\.(com|us|cn)\/?$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const SECRET_MAX_BYTES = 1024;
const TAGS_MAX_BYTES = 4096;
const SERVICE_MAX_BYTES = 255;
/** Of what must have a form of its own. */
const MEMBER_MAX_BYTES = 255;
const URL_MAX_BYTES = 2048;
const SIGNING_SECRET_MIN_BYTES = 16;

/**
 * @returns the target with nothing in it that was not looked at. A secret that was not given is null.
 * @throws {ApiError} naming the first member that is wrong.
 */
export function checkTarget(input: TargetInput | null | undefined, allowed: Allowed): Target {
  const given = Object.entries(targetKinds).filter(([kind]) => input?.[kind as keyof Target] != null);
  const known = Object.values(targetKinds).join(', ');
  const actual = given.map(([, name]) => name).join(', ');
  if (given.length > 1) throw new ApiError('severalTargets', { member: 'target', known, actual });

  const { firehose, kinesis, cloudwatchLogs, datadog, azureLogsIngestion, webhook, file } = input ?? {};
  if (firehose) {
    const auth = checkAuth(firehose.auth, 'target.firehose.auth');
    const arn = checkArn(firehose.deliveryStreamArn, 'target.firehose.deliveryStreamArn', deliveryStream);
    return { firehose: { auth, deliveryStreamArn: arn } };
  }
  if (kinesis) {
    const auth = checkAuth(kinesis.auth, 'target.kinesis.auth');
    return { kinesis: { auth, streamArn: checkArn(kinesis.streamArn, 'target.kinesis.streamArn', stream) } };
  }
  if (cloudwatchLogs) {
    const auth = checkAuth(cloudwatchLogs.auth, 'target.cloudwatchLogs.auth');
    const arn = checkArn(cloudwatchLogs.logGroupArn, 'target.cloudwatchLogs.logGroupArn', logGroup);
    return { cloudwatchLogs: { auth, logGroupArn: arn } };
  }
  if (datadog) return { datadog: checkDatadog(datadog) };
  if (azureLogsIngestion) return { azureLogsIngestion: checkAzure(azureLogsIngestion) };
  if (webhook) return { webhook: checkWebhook(webhook, allowed) };
  if (file) return { file: checkFile(file, allowed) };
  throw new ApiError('targetMissing', { member: 'target', known });
}

type AuthInput = NonNullable<TargetInput['kinesis']>['auth'];

function checkAuth(auth: AuthInput, member: string): AwsAuth {
  if (!auth) throw new ApiError('authMissing', { member });
  const { role, creds } = auth;
  if (role && creds) throw new ApiError('authBoth', { member });
  if (role) return { role: { roleArn: checkRoleArn(role.roleArn, `${member}.role.roleArn`) }, creds: null };
  if (!creds) throw new ApiError('authEmpty', { member });
  const awsAccessKeyId = match(
    creds.awsAccessKeyId,
    `${member}.creds.awsAccessKeyId`,
    /^[A-Za-z0-9]{16,128}$/,
    'badAccessKeyId',
  );
  const awsSecretAccessKey = checkSecret(creds.awsSecretAccessKey, `${member}.creds.awsSecretAccessKey`);
  return { role: null, creds: { awsAccessKeyId, awsSecretAccessKey } };
}

function checkDatadog(input: NonNullable<TargetInput['datadog']>): NonNullable<Target['datadog']> {
  const { ddtags = null, service = null } = input;
  const site = input.ddsite
    ?.replace(/^https:\/\//, '')
    .replace(/\/$/, '')
    .replace(/^app\./, '');
  const ddsite = DATADOG_SITES.find((known) => known === (site || DATADOG_SITES[0]));
  if (!ddsite)
    throw new ApiError('badDatadogSite', { member: 'target.datadog.ddsite', known: DATADOG_SITES.join(', ') });
  checkBytes('target.datadog.ddtags', ddtags ?? '', TAGS_MAX_BYTES, 'targetMemberTooLong');
  checkBytes('target.datadog.service', service ?? '', SERVICE_MAX_BYTES, 'targetMemberTooLong');
  return { apiKey: checkSecret(input.apiKey, 'target.datadog.apiKey'), ddtags, service, ddsite };
}

type Azure = NonNullable<Target['azureLogsIngestion']>;

function checkAzure(input: NonNullable<TargetInput['azureLogsIngestion']>): Azure {
  const read = (name: keyof Azure, pattern: RegExp, error: ErrorName, parameters?: Parameters) =>
    match(input[name], `target.azureLogsIngestion.${name}`, pattern, error, parameters);
  return {
    tenantId: read('tenantId', UUID, 'badUuid'),
    clientId: read('clientId', UUID, 'badUuid'),
    clientSecret: checkSecret(input.clientSecret, 'target.azureLogsIngestion.clientSecret'),
    logsIngestionUri: read('logsIngestionUri', AZURE_URI, 'badAzureUri', { known: AZURE_HOSTS.join(', ') }),
    dataCollectionRuleId: read('dataCollectionRuleId', /^dcr-[0-9a-f]{32}$/, 'badRuleId'),
    dataCollectionStreamName: read('dataCollectionStreamName', /^(Custom|Microsoft)-[A-Za-z0-9_-]+$/, 'badStreamName'),
  };
}

type WebhookInput = NonNullable<TargetInput['webhook']>;

function checkWebhook({ url, signingSecret }: WebhookInput, allowed: Allowed): NonNullable<Target['webhook']> {
  const member = 'target.webhook.url';
  if (!url) throw new ApiError('targetMemberMissing', { member });
  checkBytes(member, url, URL_MAX_BYTES, 'targetMemberTooLong');
  const answer = isUrlAllowed(url, allowed);
  if (answer !== true) throw new ApiError('webhookForbidden', { member, reason: answer });
  return { url, signingSecret: checkSigningSecret(signingSecret, 'target.webhook.signingSecret') };
}

function checkSigningSecret(text: Text, member: string): string | null {
  const secret = checkSecret(text, member);
  const [, base64] = /^whsec_(.*)$/.exec(secret ?? '') ?? [];
  const key = base64 === undefined ? secret : Buffer.from(base64, 'base64');
  const isWhole = !(key instanceof Buffer) || key.toString('base64') === base64;
  if (key && (key.length < SIGNING_SECRET_MIN_BYTES || !isWhole)) throw new ApiError('badSigningSecret', { member });
  return secret;
}

function checkFile({ name }: NonNullable<TargetInput['file']>, allowed: Allowed): NonNullable<Target['file']> {
  const member = 'target.file.name';
  if (allowed.eventFileDir === undefined) throw new ApiError('noFileDestinations', { member: 'target.file' });
  if (!name) throw new ApiError('targetMemberMissing', { member });
  if (!isFileName(name)) throw new ApiError('badFileName', { member });
  return { name };
}

/** A secret, or null when none was given. It becomes part of a header, which takes nothing but printable ASCII. */
function checkSecret(secret: Text, member: string): string | null {
  if (!secret) return null;
  checkBytes(member, secret, SECRET_MAX_BYTES, 'targetMemberTooLong');
  if (!/^[\x21-\x7e]+$/.test(secret))
    throw new ApiError('wrongValue', { member, reason: 'it must be printable ASCII without spaces' });
  return secret;
}

function match(text: Text, member: string, pattern: RegExp, error: ErrorName, parameters: Parameters = {}): string {
  if (!text) throw new ApiError('targetMemberMissing', { member });
  checkBytes(member, text, MEMBER_MAX_BYTES, 'targetMemberTooLong');
  if (!pattern.test(text)) throw new ApiError(error, { member, ...parameters });
  return text;
}
