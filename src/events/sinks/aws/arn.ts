// Amazon Resource Names: `arn:<partition>:<service>:<region>:<account>:<resource>`. Partition and region become a part of the host
// that events are sent to, so these checks must not let a text pass that leads to another host.

import { SinkError } from '../sink.ts';
import { requireText, TargetError } from '../target-error.ts';

const ARN_MAX_BYTES = 2048;

/** The partitions, and the patterns of their regions. */
const partitions: ReadonlyMap<string, RegExp> = new Map([
  ['aws', /^(?!cn-|us-gov-)[a-z]{2}(-[a-z]+)+-\d{1,2}$/],
  ['aws-cn', /^cn-[a-z]+-\d{1,2}$/],
  ['aws-us-gov', /^us-gov-[a-z]+-\d{1,2}$/],
]);

/** A kind of resource that an ARN can name. */
export interface ArnKind {
  service: string;
  /** The pattern of the part after the account. Its first group is the name. */
  resource: RegExp;
  /** Its description in messages: `a log group`. */
  noun: string;
  /** The resource in the example of a message: `stream/events`. */
  example: string;
}

/** The parts of an ARN that requests need. */
export interface Arn {
  /** The only source of the region that a request is signed for and sent to. */
  region: string;
  /** The name of the stream or the log group. */
  name: string;
}

export const arnErrors = {
  malformedArn: { number: 5120, text: '{member} must be an ARN: arn:partition:service:region:account:resource.' },
  arnPartition: { number: 5118, text: '{member}: "{actual}" is not an AWS partition.' },
  arnRegion: { number: 90069, text: '{member}: "{actual}" is not a region of the partition {partition}.' },
  arnAccount: { number: 90070, text: '{member}: the account must be 12 digits.' },
  arnService: { number: 5119, text: '{member} must be the ARN of {expected}.' },
  arnResource: { number: 5129, text: '{member} must be the ARN of {expected}.' },
  badRoleArn: {
    number: 5104,
    text: '{member} must be the ARN of an IAM role, as in arn:aws:iam::123456789012:role/delivery.',
  },
};

/** @throws {TargetError} unless the text is the ARN of a resource of this kind. */
export function checkArn(text: string | null | undefined, member: string, kind: ArnKind): string {
  const arn = requireText(text, member, ARN_MAX_BYTES);
  const { service, resource, noun, example } = kind;
  const expected = `${noun}, as in arn:aws:${service}:us-east-1:123456789012:${example}`;
  const [scheme, partition = '', itsService, region = '', account = '', ...rest] = arn.split(':');
  if (scheme !== 'arn' || rest.length === 0) throw new TargetError(arnErrors.malformedArn, { member });
  const regions = partitions.get(partition);
  if (!regions) throw new TargetError(arnErrors.arnPartition, { member, actual: partition });
  if (itsService !== service) throw new TargetError(arnErrors.arnService, { member, expected });
  if (!regions.test(region)) throw new TargetError(arnErrors.arnRegion, { member, actual: region, partition });
  if (!/^\d{12}$/.test(account)) throw new TargetError(arnErrors.arnAccount, { member });
  if (!resource.test(rest.join(':'))) throw new TargetError(arnErrors.arnResource, { member, expected });
  return arn;
}

/** @throws {TargetError} unless the text is the ARN of an IAM role, which has no region. */
export function checkRoleArn(text: string | null | undefined, member: string): string {
  if (!text) throw new TargetError('targetMemberMissing', { member });
  const [, partition = ''] = /^arn:([a-z-]+):iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/.exec(text) ?? [];
  if (!partitions.has(partition)) throw new TargetError(arnErrors.badRoleArn, { member });
  return text;
}

/** @throws {SinkError} of kind `config` unless it names such a resource, in a region of its partition. */
export function readArn(text: string, { service, resource }: ArnKind): Arn {
  const [scheme, partition = '', itsService, region = '', account = '', ...rest] = text.split(':');
  const [, name] = resource.exec(rest.join(':')) ?? [];
  const isOne = scheme === 'arn' && itsService === service && /^\d{12}$/.test(account);
  if (!isOne || !name) throw invalidArn(`the destination's ARN is not one of ${service}`);
  if (!partitions.get(partition)?.test(region)) throw invalidArn(`the partition ${partition} has no region ${region}`);
  return { region, name };
}

function invalidArn(message: string): SinkError {
  return new SinkError('config', { code: 'InvalidArn', message });
}
