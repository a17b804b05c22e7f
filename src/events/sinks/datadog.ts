// The Datadog sink. It uses the HTTP intake of logs directly, because Datadog's own client takes 140 MB for this one request.

import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { WrittenEvent } from '../written-event.ts';
import { optionalTextMember, type SinkContext, type SinkDescriptor, secretMember, textMember } from './descriptor.ts';
import { post } from './http/post.ts';
import { responseError } from './http/response-errors.ts';
import { type Sink, SinkError } from './sink.ts';
import { checkLength, checkSecret, checkTargetMembers, TargetError } from './target-error.ts';

type DatadogTarget = {
  apiKey: string | null;
  ddtags: string | null;
  service: string | null;
  ddsite: string;
};

const SITES = [
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

const TAGS_MAX_BYTES = 4096;
const SERVICE_MAX_BYTES = 255;

const errors = {
  datadogKeyMissing: { number: 5133, text: '{member} is required.' },
  badDatadogSite: { number: 5134, text: '{member} must be one of {known}.' },
};

export const datadog: SinkDescriptor<DatadogTarget> = {
  title: 'The logs of Datadog.',
  description: 'The logs of Datadog.',
  members: {
    apiKey: secretMember(
      'The API key of Datadog.',
      'Required. An API key of Datadog; at most 1024 bytes.',
      errors.datadogKeyMissing,
    ),
    ddtags: optionalTextMember(
      'Tags sent with each event, as `env:prod,site:a`.',
      'Tags to send with each event, as `env:prod,site:a`; at most 4096 bytes.',
    ),
    service: optionalTextMember(
      'The service name sent with each event.',
      'The service name to send with each event; at most 255 bytes.',
    ),
    ddsite: textMember(
      'The site to send to, as `datadoghq.eu`.',
      'The site to send to, as `datadoghq.eu`; `datadoghq.com` when left out.',
    ),
  },
  endpoints: ['datadog'],
  errors,
  check({ apiKey, ddtags = null, service = null, ddsite }, path) {
    // A site is also accepted in the form that the address bar shows.
    const name = ddsite
      ?.replace(/^https:\/\//, '')
      .replace(/\/$/, '')
      .replace(/^app\./, '');
    const site = SITES.find((known) => known === (name || SITES[0]));
    const checked = checkTargetMembers({
      ddsite() {
        if (site) return site;
        throw new TargetError(errors.badDatadogSite, { member: `${path}.ddsite`, known: SITES.join(', ') });
      },
      ddtags: () => checkLength(ddtags ?? '', `${path}.ddtags`, TAGS_MAX_BYTES),
      service: () => checkLength(service ?? '', `${path}.service`, SERVICE_MAX_BYTES),
      apiKey: () => checkSecret(apiKey, `${path}.apiKey`),
    });
    return { apiKey: checked.apiKey, ddtags, service, ddsite: checked.ddsite };
  },
  recipient: ({ ddsite }) => ddsite,
  open: (target, context) => datadogSink(target, context),
};

/** Datadog drops logs with an older timestamp (18 hours, as documented), so older events are sent without one. In milliseconds, with a margin. */
const OLDEST = 17 * 3_600_000;

const compress = promisify(gzip);

/** @throws {SinkError} when there is no API key. */
export async function datadogSink(
  { apiKey, ddsite, ddtags, service }: DatadogTarget,
  { settings, outbound, now }: SinkContext,
): Promise<Sink> {
  if (!apiKey) throw new SinkError('config', { code: 'NoApiKey', message: 'the target has no API key' });
  const url = new URL('/api/v2/logs', settings.eventEndpoints.datadog ?? `https://http-intake.logs.${ddsite}`);
  const headers = { 'dd-api-key': apiKey, 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const common = { ddsource: 'tunnel-gateway', ...(ddtags && { ddtags }), ...(service && { service }) };

  const itemOf = ({ id, type, at, text }: WrittenEvent) => {
    const time = now() - at < OLDEST ? { timestamp: new Date(at).toISOString() } : {};
    return JSON.stringify({ ...common, ...time, event_id: id, event_type: type, message: text });
  };

  return {
    // The documented limits, before compression. Datadog truncates items longer than the last one.
    limits: { records: 1000, bytes: 5_000_000 - 2, recordBytes: 1_000_000 },
    sizeOf: (event) => Buffer.byteLength(itemOf(event)) + 1,
    async put(events, signal) {
      const body = await compress(`[${events.map(itemOf).join(',')}]`, { level: constants.Z_BEST_SPEED });
      const answer = await post(url, { headers, body, agents: outbound }, signal);
      if (answer.status >= 300 || answer.status < 200) throw responseError(answer, saidBy(answer.text), now());
      return [];
    },
    close() {},
  };
}

/** The errors in a response of the intake. The text of any other response, as of a proxy, is not shown to tenants. */
function saidBy(text: string): string {
  try {
    const { errors } = JSON.parse(text) as { errors?: unknown };
    return Array.isArray(errors)
      ? errors.map((error) => String(error?.detail ?? error?.title ?? error)).join('; ')
      : '';
  } catch {
    return '';
  }
}
