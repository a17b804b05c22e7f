// Azure Monitor's ingestion of logs, by its official client. That repeats nothing and follows nothing here: delivery does.

import type { ClientSecretCredentialOptions } from '@azure/identity';
import type { WrittenEvent } from '../../event.ts';
import type { Target } from '../../target.ts';
import type { SinkContext } from '../parts.ts';
import { type Sink, SinkError } from '../sink.ts';
import { azureFailure } from './errors.ts';
import { AzureAttempt, requestsOver, runAttempt } from './requests.ts';

type AzureTarget = NonNullable<Target['azureLogsIngestion']>;

/** Where one cloud's parts are. */
interface Cloud {
  /** The end of its ingestion hosts. */
  host: string;
  /** Whom tokens are for. */
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

/** The client sends rows of so many bytes and more in several requests: parts of them could fail. */
const CHUNK_BYTES = 1_000_000;

/**
 * The packages are loaded by the first that is opened.
 * @throws {SinkError} when there is no secret, or the host is none of Azure's.
 */
export async function azureSink(target: AzureTarget, parts: SinkContext): Promise<Sink> {
  const { clientSecret, dataCollectionRuleId, dataCollectionStreamName } = target;
  if (!clientSecret)
    throw new SinkError('config', { code: 'NoClientSecret', message: 'the target has no client secret' });
  const client = await openClient(target, clientSecret, parts);
  return {
    limits: { records: 10_000, bytes: CHUNK_BYTES - 1, recordBytes: CHUNK_BYTES - 1 },
    // The row of an event says less than its text.
    sizeOf: ({ text }) => Buffer.byteLength(text),
    async put(events, signal) {
      const attempt = new AzureAttempt(signal);
      try {
        await runAttempt(attempt, () =>
          client.upload(dataCollectionRuleId, dataCollectionStreamName, events.map(rowOf), {
            maxConcurrency: 1,
            abortSignal: signal,
          }),
        );
      } catch (error) {
        throw azureFailure(error, attempt, parts.now());
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
    // The operator's own login is none that Microsoft would know of.
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

/** As the columns of the stream are documented in the README. */
function rowOf({ text }: WrittenEvent): Record<string, unknown> {
  const { event_timestamp, event_id, event_type, object } = JSON.parse(text);
  return { TimeGenerated: event_timestamp, event_id, event_type, object };
}
