// Datadog's intake of logs, by plain HTTP: its own client takes 140 MB to send this one request.

import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { WrittenEvent } from '../event.ts';
import type { Target } from '../target.ts';
import { post } from './http/post.ts';
import { responseError } from './http/response-errors.ts';
import type { SinkContext } from './parts.ts';
import { type Sink, SinkError } from './sink.ts';

/** Logs that say that they are older are not taken: they go without their time. Milliseconds; the documented 18 h, nearly. */
const OLDEST = 17 * 3_600_000;

const compress = promisify(gzip);

/** @throws {SinkError} when there is no API key. */
export async function datadogSink(
  { apiKey, ddsite, ddtags, service }: NonNullable<Target['datadog']>,
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
    // As documented, of bytes before compression. A longer item than the last would be cut off.
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

/** The errors of the intake's answer. What anything else says that may be in between is not for tenants. */
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
