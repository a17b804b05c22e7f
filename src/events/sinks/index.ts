// The kinds of target that events can be delivered to, one line each. The API lists them in this order.

import { cloudwatchLogs } from './aws/cloudwatch-logs.ts';
import { firehose } from './aws/firehose.ts';
import { kinesis } from './aws/kinesis.ts';
import { azureLogsIngestion } from './azure/logs-ingestion.ts';
import { datadog } from './datadog.ts';
import type { SinkContext, SinkDescriptor } from './descriptor.ts';
import { file } from './file.ts';
import { otlp } from './otlp.ts';
import type { Sink } from './sink.ts';
import { webhook } from './webhook.ts';

export const sinks = {
  firehose,
  kinesis,
  cloudwatchLogs,
  datadog,
  azureLogsIngestion,
  webhook,
  file,
  otlp,
} as const;

/** A kind of target, as GraphQL names it: `cloudwatchLogs`. */
export type SinkName = keyof typeof sinks;

type Targets = { [K in SinkName]: (typeof sinks)[K] extends SinkDescriptor<infer T> ? T : never };

/** The target of a destination: exactly one member is set. A secret is null when it was not given, or must not be shown. */
export type Target = Partial<Targets>;

export const sinkNames = Object.keys(sinks) as SinkName[]; // They are the literal keys of `sinks`.

/** The value of a target whose kind does not matter to the caller. */
export type AnyTarget = Record<string, unknown>;

/** The descriptor of a kind of target, for callers to whom the kind does not matter. */
export function descriptorOf(name: SinkName): SinkDescriptor<AnyTarget> {
  return sinks[name] as unknown as SinkDescriptor<AnyTarget>; // A target is only given to the descriptor of its own kind.
}

/** The kind of a target, and its value. */
export function partsOf(target: Target): [name: SinkName, value: AnyTarget] {
  const name = sinkNames.find((one) => target[one]);
  const value = name && target[name];
  if (!value) throw new TypeError('a target has no kind');
  return [name, value];
}

/** The kind of a target. */
export function sinkNameOf(target: Target): SinkName {
  return partsOf(target)[0];
}

/** The name of a kind in REST and in the specification: `cloudwatch_logs`. */
export function restNameOf(name: SinkName): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Everything that decides who receives the secrets of a target, as one text. */
export function recipientOf(target: Target): string {
  const [name, value] = partsOf(target);
  return JSON.stringify([name, descriptorOf(name).recipient(value)]);
}

/** Opens the sink of a target. @throws {SinkError} when the target lacks a secret or its host is not allowed. */
export async function openSink(target: Target, context: SinkContext): Promise<Sink> {
  const [name, value] = partsOf(target);
  return descriptorOf(name).open(value, context);
}

/** The names that are valid in `EVENT_ENDPOINTS`. */
export const endpointNames: readonly string[] = [
  ...new Set(sinkNames.flatMap((name) => descriptorOf(name).endpoints ?? [])),
];
