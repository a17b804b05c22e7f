// The kinds of target that events can go to: one line each. The order is that of the API's documentation.

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

/** Where events go: exactly one member is set. A secret is null where it was not given, or must not be seen. */
export type Target = Partial<Targets>;

export const sinkNames = Object.keys(sinks) as SinkName[]; // They are the literal keys of `sinks`.

/** A target whose kind does not matter to the caller. */
export type AnyTarget = Record<string, unknown>;

/** The descriptor of a kind that does not matter to the caller. */
export function descriptorOf(name: SinkName): SinkDescriptor<AnyTarget> {
  return sinks[name] as unknown as SinkDescriptor<AnyTarget>; // A target is only given to the descriptor of its own kind.
}

/** Which kind of target it is, and the target itself. */
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

/** The kind as REST and the specification name it: `cloudwatch_logs`. */
export function restNameOf(name: SinkName): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** All that decides who receives the secrets of a target, as one text. */
export function recipientOf(target: Target): string {
  const [name, value] = partsOf(target);
  return JSON.stringify([name, descriptorOf(name).recipient(value)]);
}

/** @throws {SinkError} when the target cannot be used as it is: without a secret, or at a host that is not allowed. */
export async function openSink(target: Target, context: SinkContext): Promise<Sink> {
  const [name, value] = partsOf(target);
  return descriptorOf(name).open(value, context);
}

/** The names that `EVENT_ENDPOINTS` knows. */
export const endpointNames: readonly string[] = [
  ...new Set(sinkNames.flatMap((name) => descriptorOf(name).endpoints ?? [])),
];
