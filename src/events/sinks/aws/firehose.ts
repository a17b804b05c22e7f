// Events to an Amazon Data Firehose stream, one record each.

import type { Target } from '../../target.ts';
import type { SinkContext } from '../parts.ts';
import type { Sink } from '../sink.ts';
import { readArn } from './arn.ts';
import { type AwsOptions, openAws } from './client.ts';
import { rejectedRecords } from './errors.ts';

/** Of PutRecordBatch; bytes count before they are encoded. */
const limits = { records: 500, bytes: 4 * 1024 * 1024, recordBytes: 1000 * 1024 };

/** @throws {SinkError} when the ARN is not that of a delivery stream. */
export async function firehoseSink(
  { auth, deliveryStreamArn }: NonNullable<Target['firehose']>,
  parts: SinkContext,
  options: AwsOptions = {},
): Promise<Sink> {
  const { name: DeliveryStreamName, region } = readArn(deliveryStreamArn, 'firehose');
  const { FirehoseClient, PutRecordBatchCommand } = await import('@aws-sdk/client-firehose');
  const aws = await openAws(
    { service: 'firehose', region },
    auth,
    parts,
    options,
    (settings) => new FirehoseClient(settings),
  );
  return {
    limits,
    sizeOf: ({ text }) => Buffer.byteLength(text) + 1,
    async put(events, signal) {
      // Firehose joins records to one another: what reads them again needs the ends of lines.
      const Records = events.map(({ text }) => ({ Data: Buffer.from(`${text}\n`) }));
      const command = new PutRecordBatchCommand({ DeliveryStreamName, Records });
      const answer = await aws.send(signal, (client, options) => client.send(command, options));
      return rejectedRecords(answer.RequestResponses, events.length, answer.FailedPutCount);
    },
    close: () => {},
  };
}
