// Each kind of target is opened as its sink, and says within which limits it takes events.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSink, sinkNameOf, type Target } from '../../../src/events/sinks/index.ts';
import {
  byKeys,
  deliveryStreamArn,
  logGroupArn,
  newEvents,
  patience,
  streamArn,
} from '../../support/events/aws-sinks.ts';
import { right } from '../../support/events/http-cloud.ts';
import { failureOf, openSinkLab, type SinkLab } from '../../support/events/http-sinks.ts';

let lab: SinkLab;
beforeAll(async () => {
  lab = await openSinkLab();
});
afterAll(() => lab.close());

const auth = byKeys({ accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'secret' });

const targets: Required<Target> = {
  firehose: { auth, deliveryStreamArn },
  kinesis: { auth, streamArn },
  cloudwatchLogs: { auth, logGroupArn },
  datadog: { apiKey: right.apiKey, ddsite: 'datadoghq.com', ddtags: null, service: null },
  azureLogsIngestion: {
    tenantId: right.tenantId,
    clientId: right.clientId,
    clientSecret: right.clientSecret,
    logsIngestionUri: 'https://a.ingest.monitor.azure.com',
    dataCollectionRuleId: `dcr-${'0a'.repeat(16)}`,
    dataCollectionStreamName: 'Custom-A_CL',
  },
  webhook: { url: 'https://hooks.example.com/', signingSecret: 'secret' },
  file: { name: 'events.jsonl' },
  otlp: { endpoint: 'https://hooks.example.com/', headers: [], compression: 'none', resourceAttributes: [] },
};

test.each(Object.entries(targets))('%s', async (kind, target) => {
  const parts = lab.parts();
  const settings = { ...parts.settings, eventWebhookHosts: ['hooks.example.com'], eventFileDir: lab.directory };
  const sink = await openSink({ [kind]: target }, { ...parts, settings });
  const { records, bytes, recordBytes } = sink.limits;
  expect(Math.min(records, bytes, recordBytes)).toBeGreaterThan(0);
  expect(recordBytes).toBeLessThanOrEqual(bytes);
  if (['datadog', 'azure_logs_ingestion', 'file'].includes(sinkNameOf({ [kind]: target })))
    expect(await sink.put(newEvents(1), patience)).toEqual([]);
  sink.close();
});

test.each(['firehose', 'kinesis', 'cloudwatchLogs'] as const)('the guard holds for %s, too', async (kind) => {
  const { settings, ...parts } = lab.parts();
  // The same place by a name that no override has.
  const inner = `https://127.0.0.1:${lab.cloud.port}`;
  const eventEndpoints = { firehose: inner, kinesis: inner, logs: inner };
  const sink = await openSink({ [kind]: targets[kind] }, { ...parts, settings: { ...settings, eventEndpoints } });
  const { connections } = lab.cloud;
  const failure = await failureOf(sink.put(newEvents(1), patience));
  expect(failure).toMatchObject({ kind: 'config', code: 'FORBIDDEN_ADDRESS' });
  expect(lab.cloud.connections).toBe(connections);
  sink.close();
});
