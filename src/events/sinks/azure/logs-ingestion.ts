// The sink of Azure Monitor's Logs Ingestion API. It makes the two requests itself: one for a token, one for each batch. Azure's own
// clients take 43 packages and 50 MB for them, and have retries and redirects that delivery must turn off.

import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { WrittenEvent } from '../../written-event.ts';
import { type SinkContext, type SinkDescriptor, secretMember, textMember } from '../descriptor.ts';
import { type PostResponse, post } from '../http/post.ts';
import { type Sink, SinkError } from '../sink.ts';
import { checkSecret, checkTargetMembers, requireMatch } from '../target-error.ts';
import { ingestionFailure, jsonOf, loginFailure, unusableAnswer } from './errors.ts';

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

/** The most bytes of a batch, below the documented limit of 1 MiB for a call, before compression. */
const BATCH_BYTES_MAX = 999_999;
/** The version of the API. */
const API_VERSION = '2023-01-01';
/** A token is asked for anew so long before it ends, in milliseconds: it has to be good when the request arrives. */
const TOKEN_MARGIN_MS = 300_000;
/** What a successful upload is answered with. */
const NO_CONTENT = 204;

const compress = promisify(gzip);

interface Token {
  text: string;
  /** In milliseconds since 1970. */
  goodUntil: number;
}

/** @throws {SinkError} when there is no secret, or the host is not one of Azure. */
export async function azureSink(target: AzureTarget, context: SinkContext): Promise<Sink> {
  const { clientSecret, dataCollectionRuleId, dataCollectionStreamName, logsIngestionUri } = target;
  if (!clientSecret)
    throw new SinkError('config', { code: 'NoClientSecret', message: 'the target has no client secret' });
  const cloud = cloudOf(logsIngestionUri);
  const { settings, outbound, now } = context;
  const upload = new URL(
    `/dataCollectionRules/${dataCollectionRuleId}/streams/${dataCollectionStreamName}?api-version=${API_VERSION}`,
    settings.eventEndpoints.azure ?? logsIngestionUri,
  );
  let token: Token | undefined;
  return {
    limits: { records: 10_000, bytes: BATCH_BYTES_MAX, recordBytes: BATCH_BYTES_MAX },
    // The row of an event is shorter than its text.
    sizeOf: ({ size }) => size,
    async put(events, signal) {
      const body = await compress(JSON.stringify(events.map(rowOf)), { level: constants.Z_BEST_SPEED });
      if (!token || token.goodUntil <= now()) token = await logIn(target, cloud, context, signal);
      const headers = {
        authorization: `Bearer ${token.text}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      };
      const answer = await post(upload, { headers, body, agents: outbound }, signal);
      if (answer.status === 401) token = undefined;
      if (isSuccess(answer)) {
        if (answer.status !== NO_CONTENT) throw unusableAnswer(answer);
        return [];
      }
      throw ingestionFailure(answer, now());
    },
    close() {},
  };
}

/** Asks for a token with the secret of the application (RFC 6749, section 4.4). @throws {SinkError} */
async function logIn(
  { tenantId, clientId, clientSecret }: AzureTarget,
  { audience, authorityHost }: Cloud,
  { settings, outbound, now }: SinkContext,
  signal: AbortSignal,
): Promise<Token> {
  const url = new URL(`/${tenantId}/oauth2/v2.0/token`, settings.eventEndpoints.azureLogin ?? authorityHost);
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret ?? '',
    scope: `${audience}/.default`,
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await post(url, { headers, body: Buffer.from(form.toString()), agents: outbound }, signal);
  if (!isSuccess(answer)) throw loginFailure(answer, now());
  const { access_token: text, expires_in: seconds } = jsonOf(answer.text) as Record<string, unknown>;
  if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text)) throw unusableAnswer(answer);
  return { text, goodUntil: now() + (Number(seconds) || 0) * 1000 - TOKEN_MARGIN_MS };
}

const isSuccess = ({ status }: PostResponse) => status >= 200 && status < 300;

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
