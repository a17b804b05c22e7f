// What sinks need to know of an ARN: where the request goes, and what it is for.

import { SinkError } from '../sink.ts';

/** The partitions, and what the names of their regions look like: they become part of the host that is asked. */
export const partitions: ReadonlyMap<string, RegExp> = new Map([
  ['aws', /^(?!cn-|us-gov-)[a-z]{2}(-[a-z]+)+-\d{1,2}$/],
  ['aws-cn', /^cn-[a-z]+-\d{1,2}$/],
  ['aws-us-gov', /^us-gov-[a-z]+-\d{1,2}$/],
]);

const resources = {
  firehose: /^deliverystream\/([\w.-]{1,64})$/,
  kinesis: /^stream\/([\w.-]{1,128})$/,
  logs: /^log-group:([\w./#-]{1,512})(?::\*)?$/,
};

export interface Arn {
  /** As it was given. */
  text: string;
  /** The only source of the region that a request is signed for and sent to. */
  region: string;
  /** Of the stream or the log group. */
  name: string;
}

/** @throws {SinkError} of kind `config` unless it names such a resource, in a region of its partition. */
export function readArn(text: string, service: keyof typeof resources): Arn {
  const [scheme, partition = '', itsService, region = '', account = '', ...rest] = text.split(':');
  const [, name] = resources[service].exec(rest.join(':')) ?? [];
  const isOne = scheme === 'arn' && itsService === service && /^\d{12}$/.test(account);
  if (!isOne || !name) throw wrong(`the destination's ARN is not one of ${service}`);
  if (!partitions.get(partition)?.test(region)) throw wrong(`the partition ${partition} has no region ${region}`);
  return { text, region, name };
}

function wrong(message: string): SinkError {
  return new SinkError('config', { code: 'InvalidArn', message });
}
