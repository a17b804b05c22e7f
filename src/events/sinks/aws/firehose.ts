// The sink of Amazon Data Firehose. It sends each event as one record.

import type { PutRecordBatchOutput } from '@aws-sdk/client-firehose';
import { type SinkContext, type SinkDescriptor, textMember } from '../descriptor.ts';
import type { Sink } from '../sink.ts';
import { checkTargetMembers } from '../target-error.ts';
import { type ArnKind, checkArn, readArn } from './arn.ts';
import { type AwsTargetAuth, authMember, awsErrors, checkAuth } from './auth.ts';
import { type AwsOptions, openAws } from './client.ts';
import { rejectedRecords } from './errors.ts';
import { RecordBodies, replaceBody } from './record-request.ts';

type FirehoseTarget = {
  auth: AwsTargetAuth;
  deliveryStreamArn: string;
};

const deliveryStream: ArnKind = {
  service: 'firehose',
  resource: /^deliverystream\/([\w.-]{1,64})$/,
  noun: 'a Firehose delivery stream',
  example: 'deliverystream/events',
};

export const firehose: SinkDescriptor<FirehoseTarget> = {
  title: 'A Firehose delivery stream.',
  description: 'A delivery stream of Amazon Data Firehose.',
  members: {
    auth: authMember,
    deliveryStreamArn: textMember('The ARN of the delivery stream.', 'Required. The ARN of the delivery stream.'),
  },
  endpoints: ['firehose', 'sts'],
  errors: awsErrors,
  check: ({ auth, deliveryStreamArn }, path) =>
    checkTargetMembers({
      auth: () => checkAuth(auth, `${path}.auth`),
      deliveryStreamArn: () => checkArn(deliveryStreamArn, `${path}.deliveryStreamArn`, deliveryStream),
    }),
  recipient: ({ auth, deliveryStreamArn }) => [deliveryStreamArn, auth.creds?.awsAccessKeyId],
  open: (target, context) => firehoseSink(target, context),
};

/** The limits of PutRecordBatch. Bytes count before base64. */
const limits = { records: 500, bytes: 4 * 1024 * 1024, recordBytes: 1000 * 1024 };

/** @throws {SinkError} when the ARN is not that of a delivery stream. */
export async function firehoseSink(
  { auth, deliveryStreamArn }: FirehoseTarget,
  parts: SinkContext,
  options: AwsOptions = {},
): Promise<Sink> {
  const { name: DeliveryStreamName, region } = readArn(deliveryStreamArn, deliveryStream);
  const { FirehoseClient, PutRecordBatchCommand } = await import('@aws-sdk/client-firehose');
  const aws = await openAws(
    { service: 'firehose', region },
    auth,
    parts,
    options,
    (settings) => new FirehoseClient(settings),
  );
  const bodies = new RecordBodies({
    after: () => '"}',
    closing: `],${JSON.stringify({ DeliveryStreamName }).slice(1)}`,
    // Firehose concatenates records, so each needs a line break at its end.
    hasLineBreaks: true,
  });
  return {
    limits,
    sizeOf: ({ size }) => size + 1,
    async put(events, signal) {
      const command = new PutRecordBatchCommand({ DeliveryStreamName, Records: [] });
      const body = await bodies.write(events);
      const answered = replaceBody<PutRecordBatchOutput>(command, body);
      await aws.send(signal, (client, options) => client.send(command, options));
      bodies.release(body);
      const { RequestResponses, FailedPutCount } = answered();
      return rejectedRecords(RequestResponses, events.length, FailedPutCount);
    },
    close: () => {},
  };
}
