// The sink of Azure Monitor's log ingestion, through its official client. The client's retries and redirects are off, because delivery
// retries.

import type { ClientSecretCredentialOptions } from '@azure/identity';
import type { WrittenEvent } from '../../written-event.ts';
import { type SinkContext, type SinkDescriptor, secretMember, textMember } from '../descriptor.ts';
import { type Sink, SinkError } from '../sink.ts';
import { checkSecret, checkTargetMembers, requireMatch } from '../target-error.ts';
import { toSinkError } from './errors.ts';
import { RequestAttempt, requestsOver, runAttempt } from './requests.ts';

type AzureTarget = {
  tenantId: string;
  clientId: string;
  clientSecret: string | null;
  logsIngestionUri: string;
  dataCollectionRuleId: string;
  dataCollectionStreamName: string;
};

/** The hosts of one Azure cloud. */
interface Cloud {
  /** The suffix of its ingestion hosts. */
  host: string;
  /** The audience of tokens. */
  audience: string;
  authorityHost: string;
}

const CLOUDS: readonly [Cloud, ...Cloud[]] = [
  {
    host: '.ingest.monitor.azure.com',
    audience: 'https://monitor.azure.com',
    authorityHost: 'https://login.microsoftonline.com',
  },
  {
    host: '.ingest.monitor.azure.us',
    audience: 'https://monitor.azure.us',
    authorityHost: 'https://login.microsoftonline.us',
  },
  {
    host: '.ingest.monitor.azure.cn',
    audience: 'https://monitor.azure.cn',
    authorityHost: 'https://login.chinacloudapi.cn',
  },
];

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const INGESTION_URI = /^https:\/\/([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.){1,8}ingest\.monitor\.azure\.(com|us|cn)\/?$/;
const RULE_ID = /^dcr-[0-9a-f]{32}$/;
const STREAM_NAME = /^(Custom|Microsoft)-[A-Za-z0-9_-]+$/;

const errors = {
  badAzureUri: { number: 90062, text: '{member} must be https:// and a host under {known}.' },
  badUuid: { number: 90063, text: '{member} must be a UUID.' },
  badRuleId: {
    number: 90064,
    text: '{member} must be the immutable id of a data collection rule: "dcr-" and 32 hexadecimal digits.',
  },
  badStreamName: {
    number: 90065,
    text: '{member} must begin with "Custom-" or "Microsoft-" and have letters, digits, "_" and "-".',
  },
};

export const azureLogsIngestion: SinkDescriptor<AzureTarget> = {
  title: 'Azure Monitor.',
  description: 'The Logs Ingestion API of Azure Monitor.',
  members: {
    tenantId: textMember('The id of the tenant.', 'Required. The id of the tenant, a UUID.'),
    clientId: textMember('The id of the application.', 'Required. The id of the application, a UUID.'),
    clientSecret: secretMember(
      'The secret of the application.',
      'Required. The secret of the application; at most 1024 bytes.',
    ),
    logsIngestionUri: textMember(
      'The logs ingestion URI of the data collection endpoint.',
      'Required. The logs ingestion URI of the data collection endpoint, as ' +
        '`https://events-a1b2.westeurope-1.ingest.monitor.azure.com`.',
    ),
    dataCollectionRuleId: textMember(
      'The immutable id of the data collection rule.',
      'Required. The immutable id of the data collection rule: `dcr-` and 32 hexadecimal digits.',
    ),
    dataCollectionStreamName: textMember(
      'The stream of the rule that events go to.',
      'Required. The stream of the rule: `Custom-…` or `Microsoft-…`, at most 255 bytes.',
    ),
  },
  endpoints: ['azure', 'azureLogin'],
  errors,
  check(given, path) {
    const known = CLOUDS.map(({ host }) => host.slice(1)).join(', ');
    return checkTargetMembers({
      tenantId: () => requireMatch(given.tenantId, `${path}.tenantId`, UUID, errors.badUuid),
      clientId: () => requireMatch(given.clientId, `${path}.clientId`, UUID, errors.badUuid),
      clientSecret: () => checkSecret(given.clientSecret, `${path}.clientSecret`),
      logsIngestionUri: () =>
        requireMatch(given.logsIngestionUri, `${path}.logsIngestionUri`, INGESTION_URI, errors.badAzureUri, { known }),
      dataCollectionRuleId: () =>
        requireMatch(given.dataCollectionRuleId, `${path}.dataCollectionRuleId`, RULE_ID, errors.badRuleId),
      dataCollectionStreamName: () =>
        requireMatch(
          given.dataCollectionStreamName,
          `${path}.dataCollectionStreamName`,
          STREAM_NAME,
          errors.badStreamName,
        ),
    });
  },
  recipient: ({ logsIngestionUri, tenantId, clientId }) => [logsIngestionUri, tenantId, clientId],
  open: (target, context) => azureSink(target, context),
};

/** From so many bytes the client sends several requests, some of which could fail. */
const CHUNK_BYTES = 1_000_000;

/**
 * Opens the sink. The packages are loaded with the first one.
 * @throws {SinkError} when there is no secret, or the host is not one of Azure.
 */
export async function azureSink(target: AzureTarget, parts: SinkContext): Promise<Sink> {
  const { clientSecret, dataCollectionRuleId, dataCollectionStreamName } = target;
  if (!clientSecret)
    throw new SinkError('config', { code: 'NoClientSecret', message: 'the target has no client secret' });
  const client = await openClient(target, clientSecret, parts);
  return {
    limits: { records: 10_000, bytes: CHUNK_BYTES - 1, recordBytes: CHUNK_BYTES - 1 },
    // The row of an event is shorter than its text.
    sizeOf: ({ size }) => size,
    async put(events, signal) {
      const attempt = new RequestAttempt(signal);
      try {
        await runAttempt(attempt, () =>
          client.upload(dataCollectionRuleId, dataCollectionStreamName, events.map(rowOf), {
            maxConcurrency: 1,
            abortSignal: signal,
          }),
        );
      } catch (error) {
        throw toSinkError(error, attempt, parts.now());
      }
      return [];
    },
    close() {},
  };
}

async function openClient(
  { tenantId, clientId, logsIngestionUri }: AzureTarget,
  secret: string,
  { settings, outbound }: SinkContext,
) {
  const cloud = cloudOf(logsIngestionUri);
  const { azure, azureLogin } = settings.eventEndpoints;
  const [{ LogsIngestionClient }, { ClientSecretCredential }] = await Promise.all([
    import('@azure/monitor-ingestion'),
    import('@azure/identity'),
  ]);
  const once: ClientSecretCredentialOptions = {
    retryOptions: { maxRetries: 0 },
    redirectOptions: { maxRetries: 0 },
    additionalPolicies: [requestsOver(outbound)],
  };
  const credential = new ClientSecretCredential(tenantId, clientId, secret, {
    ...once,
    authorityHost: azureLogin ?? cloud.authorityHost,
    // An authority that the operator configured is unknown to Microsoft's discovery.
    disableInstanceDiscovery: azureLogin !== undefined,
  });
  return new LogsIngestionClient(azure ?? logsIngestionUri, credential, { ...once, audience: cloud.audience });
}

function cloudOf(uri: string): Cloud {
  const host = URL.parse(uri)?.hostname ?? '';
  const cloud = CLOUDS.find((one) => host.endsWith(one.host));
  if (cloud) return cloud;
  throw new SinkError('config', {
    code: 'FORBIDDEN_HOST',
    message: 'the ingestion URI is at no host of Azure Monitor',
  });
}

/** The row of an event. The manual documents the columns. */
function rowOf({ text }: WrittenEvent): Record<string, unknown> {
  const { event_timestamp, event_id, event_type, object } = JSON.parse(text);
  return { TimeGenerated: event_timestamp, event_id, event_type, object };
}
