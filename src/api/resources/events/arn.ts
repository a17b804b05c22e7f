// Amazon Resource Names: `arn:<partition>:<service>:<region>:<account>:<resource>`.

import { partitions } from '../../../events/sinks/aws/arn.ts';
import { ApiError } from '../../errors.ts';

const ARN_MAX_BYTES = 2048;

/** A kind of resource that an ARN can name. */
export interface ArnKind {
  service: string;
  resource: RegExp;
  /** How a message describes it. */
  expected: string;
}

const example = (service: string, resource: string) => `arn:aws:${service}:us-east-1:123456789012:${resource}`;

export const deliveryStream: ArnKind = {
  service: 'firehose',
  resource: /^deliverystream\/[\w.-]{1,64}$/,
  expected: `a Firehose delivery stream, as in ${example('firehose', 'deliverystream/events')}`,
};

export const stream: ArnKind = {
  service: 'kinesis',
  resource: /^stream\/[\w.-]{1,128}$/,
  expected: `a Kinesis stream, as in ${example('kinesis', 'stream/events')}`,
};

export const logGroup: ArnKind = {
  service: 'logs',
  resource: /^log-group:[\w./#-]{1,512}(:\*)?$/,
  expected: `a CloudWatch log group, as in ${example('logs', 'log-group:events')}`,
};

/**
 * Partition and region become part of the host that events are sent to: nothing may pass here that names another.
 * @throws {ApiError} unless the text is the ARN of a resource of this kind.
 */
export function checkArn(text: string | null | undefined, member: string, kind: ArnKind): string {
  if (!text) throw new ApiError('targetMemberMissing', { member });
  const actual = Buffer.byteLength(text);
  if (actual > ARN_MAX_BYTES) throw new ApiError('targetMemberTooLong', { member, max: ARN_MAX_BYTES, actual });
  const { service, resource, expected } = kind;
  const [scheme, partition = '', itsService, region = '', account = '', ...rest] = text.split(':');
  if (scheme !== 'arn' || rest.length === 0) throw new ApiError('malformedArn', { member });
  const regions = partitions.get(partition);
  if (!regions) throw new ApiError('arnPartition', { member, actual: partition });
  if (itsService !== service) throw new ApiError('arnService', { member, expected });
  if (!regions.test(region)) throw new ApiError('arnRegion', { member, actual: region, partition });
  if (!/^\d{12}$/.test(account)) throw new ApiError('arnAccount', { member });
  if (!resource.test(rest.join(':'))) throw new ApiError('arnResource', { member, expected });
  return text;
}

/** @throws {ApiError} unless the text is the ARN of an IAM role, which has no region. */
export function checkRoleArn(text: string | null | undefined, member: string): string {
  if (!text) throw new ApiError('targetMemberMissing', { member });
  const [, partition = ''] = /^arn:([a-z-]+):iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/.exec(text) ?? [];
  if (!partitions.has(partition)) throw new ApiError('badRoleArn', { member });
  return text;
}
