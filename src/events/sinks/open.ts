// Which sink serves which target.

import type { Target } from '../target.ts';
import { cloudwatchLogsSink } from './aws/cloudwatch-logs.ts';
import { firehoseSink } from './aws/firehose.ts';
import { kinesisSink } from './aws/kinesis.ts';
import { azureSink } from './azure/logs-ingestion.ts';
import { datadogSink } from './datadog.ts';
import { fileSink } from './file.ts';
import type { SinkContext } from './parts.ts';
import type { Sink } from './sink.ts';
import { webhookSink } from './webhook.ts';

type Targets = Required<Target>;
type Openings = { [K in keyof Targets]: (target: Targets[K], parts: SinkContext) => Promise<Sink> };

const openings: Openings = {
  firehose: firehoseSink,
  kinesis: kinesisSink,
  cloudwatchLogs: cloudwatchLogsSink,
  datadog: datadogSink,
  azureLogsIngestion: azureSink,
  webhook: webhookSink,
  file: fileSink,
};

/** @throws {SinkError} when the target cannot be used as it is: without a secret, or at a host that is not allowed. */
export function openSink(target: Target, parts: SinkContext): Promise<Sink> {
  const [kind] = Object.keys(target) as (keyof Targets)[];
  if (!kind) throw new TypeError('a target is of one kind');
  return openAs(kind, target, parts);
}

function openAs<K extends keyof Targets>(kind: K, target: Target, parts: SinkContext): Promise<Sink> {
  return openings[kind](target[kind] as Targets[K], parts);
}
