// The sink of Amazon Kinesis Data Streams. It sends each event as one record.

import type { PutRecordsOutput } from '@aws-sdk/client-kinesis';
import { isAuditEvent } from '../../types.ts';
import type { WrittenEvent } from '../../written-event.ts';
import { type SinkContext, type SinkDescriptor, textMember } from '../descriptor.ts';
import type { Sink } from '../sink.ts';
import { checkTargetMembers } from '../target-error.ts';
import { type ArnKind, checkArn, readArn } from './arn.ts';
import { type AwsTargetAuth, authMember, awsErrors, checkAuth } from './auth.ts';
import { type AwsOptions, openAws } from './client.ts';
import { rejectedRecords } from './errors.ts';
import { RecordBodies, replaceBody } from './record-request.ts';

type KinesisTarget = {
  auth: AwsTargetAuth;
  streamArn: string;
};

const stream: ArnKind = {
  service: 'kinesis',
  resource: /^stream\/([\w.-]{1,128})$/,
  noun: 'a Kinesis stream',
  example: 'stream/events',
};

export const kinesis: SinkDescriptor<KinesisTarget> = {
  title: 'A Kinesis stream.',
  description: 'A stream of Amazon Kinesis.',
  members: {
    auth: authMember,
    streamArn: textMember('The ARN of the stream.', 'Required. The ARN of the stream.'),
  },
  endpoints: ['kinesis', 'sts'],
  errors: awsErrors,
  check: ({ auth, streamArn }, path) =>
    checkTargetMembers({
      auth: () => checkAuth(auth, `${path}.auth`),
      streamArn: () => checkArn(streamArn, `${path}.streamArn`, stream),
    }),
  recipient: ({ auth, streamArn }) => [streamArn, auth.creds?.awsAccessKeyId],
  open: (target, context) => kinesisSink(target, context),
};

/** The limits of PutRecords. Bytes count before base64, with those of the partition keys. The limit of a record depends on the stream. */
const limits = { records: 500, bytes: 10 * 1024 * 1024, recordBytes: 10 * 1024 * 1024 };
/** The most characters of a partition key. */
const KEY_MAX = 256;

/** @throws {SinkError} when the ARN is not that of a stream. */
export async function kinesisSink(
  { auth, streamArn }: KinesisTarget,
  parts: SinkContext,
  options: AwsOptions = {},
): Promise<Sink> {
  const { name: StreamName, region } = readArn(streamArn, stream);
  const { KinesisClient, PutRecordsCommand } = await import('@aws-sdk/client-kinesis');
  const aws = await openAws(
    { service: 'kinesis', region },
    auth,
    parts,
    options,
    (settings) => new KinesisClient(settings),
  );
  // With the ARN the SDK uses the host of the stream's account. Other servers of this protocol find streams by name.
  const names = { StreamName, StreamARN: streamArn };
  const bodies = new RecordBodies({
    after: (event) => `","PartitionKey":${JSON.stringify(partitionKey(event))}}`,
    closing: `],${JSON.stringify(names).slice(1)}`,
    hasLineBreaks: false,
  });
  return {
    limits,
    sizeOf: (event) => event.size + Buffer.byteLength(partitionKey(event)),
    async put(events, signal) {
      const command = new PutRecordsCommand({ ...names, Records: [] });
      const body = await bodies.write(events);
      const answered = replaceBody<PutRecordsOutput>(command, body);
      await aws.send(signal, (client, options) => client.send(command, options));
      bodies.release(body);
      const { Records, FailedRecordCount } = answered();
      return rejectedRecords(Records, events.length, FailedRecordCount);
    },
    close: () => {},
  };
}

/** The partition key: the same for all changes of one object, so that they stay in one shard and in order. Other events are spread. */
function partitionKey(event: WrittenEvent): string {
  const { id } = event;
  if (!isAuditEvent(event.type)) return id;
  const { object } = JSON.parse(event.text) as { object?: { id?: unknown } | null };
  return typeof object?.id === 'string' && object.id && object.id.length <= KEY_MAX ? object.id : id;
}
