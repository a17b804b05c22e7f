// A Kinesis that this project did not write: kinesalite, in memory, spoken to with the AWS SDK.

import { once } from 'node:events';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import {
  CreateStreamCommand,
  DescribeStreamSummaryCommand,
  GetRecordsCommand,
  GetShardIteratorCommand,
  KinesisClient,
  ListShardsCommand,
} from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';

interface KinesaliteOptions {
  createStreamMs: number;
  deleteStreamMs: number;
  updateStreamMs: number;
  shardLimit: number;
}

const kinesalite = createRequire(import.meta.url)('kinesalite') as (options: KinesaliteOptions) => Server;

const STREAM = 'events';
const creds = { awsAccessKeyId: 'AKIAIOSFODNN7EXAMPLE', awsSecretAccessKey: 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY' };

export interface Kinesis {
  /** What a gateway's configuration needs to find it. */
  env: { EVENT_ENDPOINTS: string };
  /** Of an event destination, as REST takes it. */
  target: object;
  /** Everything that has come to the stream so far, in its order: one shard. */
  records(): Promise<string[]>;
  close(): Promise<void>;
}

/** Starts it with one stream of one shard. */
export async function startKinesis(): Promise<Kinesis> {
  const server = kinesalite({ createStreamMs: 0, deleteStreamMs: 0, updateStreamMs: 0, shardLimit: 10 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new KinesisClient({
    region: 'us-east-1',
    endpoint,
    credentials: { accessKeyId: creds.awsAccessKeyId, secretAccessKey: creds.awsSecretAccessKey },
    requestHandler: new NodeHttpHandler(), // The default of this client is HTTP/2, which kinesalite does not speak.
  });
  await client.send(new CreateStreamCommand({ StreamName: STREAM, ShardCount: 1 }));
  for (let isActive = false; !isActive; ) {
    const { StreamDescriptionSummary: stream } = await client.send(
      new DescribeStreamSummaryCommand({ StreamName: STREAM }),
    );
    isActive = stream?.StreamStatus === 'ACTIVE';
  }
  const { Shards } = await client.send(new ListShardsCommand({ StreamName: STREAM }));
  const { ShardIterator } = await client.send(
    new GetShardIteratorCommand({
      StreamName: STREAM,
      ShardId: Shards?.[0]?.ShardId,
      ShardIteratorType: 'TRIM_HORIZON',
    }),
  );
  const read: string[] = [];
  let next = ShardIterator;
  return {
    env: { EVENT_ENDPOINTS: `kinesis=${endpoint}` },
    target: {
      kinesis: {
        auth: { creds: { aws_access_key_id: creds.awsAccessKeyId, aws_secret_access_key: creds.awsSecretAccessKey } },
        stream_arn: `arn:aws:kinesis:us-east-1:123456789012:stream/${STREAM}`,
      },
    },
    async records() {
      for (;;) {
        const { Records = [], NextShardIterator } = await client.send(new GetRecordsCommand({ ShardIterator: next }));
        next = NextShardIterator;
        if (Records.length === 0) return [...read];
        for (const { Data } of Records) read.push(Buffer.from(Data ?? []).toString());
      }
    },
    async close() {
      client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
