// Where events arrive, a process of its own: a Kinesis (kinesalite, one stream of one shard), or the end of a file that the
// gateway writes. It says which numbered events have come, and when.
//
//   node receiver.js kinesis          prints `ready <endpoint>`
//   node receiver.js file FILE MS     looks at the file so often; 0: only when it is asked

import { once } from 'node:events';
import { existsSync, openSync, readdirSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';

/**
 * @typedef {object} Question
 * @property {number} first the number of the first event.
 * @property {number} count how many there are, at most.
 * @property {number} quietMs how long nothing must have come before the rest is given up.
 */

/** @typedef {{ arrivedAt: Float64Array, twice: number }} Arrivals `arrivedAt`: by number from the first, NaN for those that did not come; `twice`: how many came more than once. */

export const STREAM = 'events';
const POLL_MS = 100;
const NUMBER = /n=(\d{9})/;
const READ_BYTES = 1024 * 1024;

/** When each number came: the wall clock, in milliseconds. @type {Map<number, number>} */
const seen = new Map();
/** Numbers that came again. @type {number[]} */
const again = [];

/** @param {string} text of an event. @param {number} at */
function arrive(text, at) {
  const n = Number(NUMBER.exec(text)?.[1]);
  if (Number.isNaN(n)) return;
  if (seen.has(n)) again.push(n);
  else seen.set(n, at);
}

const [kind, file = '', pollMs = ''] = process.argv.slice(2);
/** @type {() => Promise<unknown>} */
const look = kind === 'kinesis' ? await startKinesis() : watchFile(file, Number(pollMs));

process.on('message', (/** @type {Question} */ question) => {
  answer(question).then(
    (arrivals) => process.send?.(arrivals),
    (error) => process.send?.({ error: error.message }),
  );
});

/** @param {Question} question @returns {Promise<Arrivals>} */
async function answer({ first, count, quietMs }) {
  let known = -1;
  let quietSince = 0;
  for (;;) {
    await look();
    let come = 0;
    for (let n = first; n < first + count; n++) if (seen.has(n)) come++;
    if (come > known) quietSince = performance.now();
    known = come;
    if (come === count || performance.now() - quietSince > quietMs) break;
    await later(POLL_MS);
  }
  const arrivedAt = Float64Array.from({ length: count }, (_, i) => seen.get(first + i) ?? Number.NaN);
  const twice = again.filter((n) => n >= first && n < first + count).length;
  for (let n = first; n < first + count; n++) seen.delete(n);
  again.length = 0;
  return { arrivedAt, twice };
}

/** @returns {Promise<() => Promise<unknown>>} reads what has come since the last time. */
async function startKinesis() {
  const kinesalite = createRequire(import.meta.url)('kinesalite');
  const server = kinesalite({ createStreamMs: 0, deleteStreamMs: 0, updateStreamMs: 0, shardLimit: 10 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${server.address().port}`;
  const kinesis = await import('@aws-sdk/client-kinesis');
  const { NodeHttpHandler } = await import('@smithy/node-http-handler');
  const client = new kinesis.KinesisClient({
    region: 'us-east-1',
    endpoint,
    credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'secret' },
    requestHandler: new NodeHttpHandler(), // The default of this client is HTTP/2, which kinesalite does not speak.
  });
  await client.send(new kinesis.CreateStreamCommand({ StreamName: STREAM, ShardCount: 1 }));
  const describe = new kinesis.DescribeStreamSummaryCommand({ StreamName: STREAM });
  while ((await client.send(describe)).StreamDescriptionSummary?.StreamStatus !== 'ACTIVE') await later(10);
  const { Shards } = await client.send(new kinesis.ListShardsCommand({ StreamName: STREAM }));
  const from = {
    StreamName: STREAM,
    ShardId: Shards?.[0]?.ShardId,
    ShardIteratorType: /** @type {const} */ ('LATEST'),
  };
  let { ShardIterator: iterator } = await client.send(new kinesis.GetShardIteratorCommand(from));
  process.stdout.write(`ready ${endpoint}\n`);
  return async () => {
    for (;;) {
      const { Records = [], NextShardIterator } = await client.send(
        new kinesis.GetRecordsCommand({ ShardIterator: iterator, Limit: 1000 }),
      );
      iterator = NextShardIterator;
      if (Records.length === 0) return;
      for (const { Data, ApproximateArrivalTimestamp } of Records)
        arrive(Buffer.from(Data ?? []).toString('latin1'), ApproximateArrivalTimestamp?.getTime() ?? Number.NaN);
    }
  };
}

/** @param {string} path @param {number} everyMs @returns {() => Promise<void>} reads what has come since the last time. */
function watchFile(path, everyMs) {
  /** @type {number | undefined} */
  let descriptor;
  const buffer = Buffer.alloc(READ_BYTES);
  let rest = '';
  const read = async () => {
    const found = descriptor === undefined ? findFile(path) : undefined;
    if (found !== undefined) descriptor = openSync(found, 'r');
    if (descriptor === undefined) return;
    for (let bytes = READ_BYTES; bytes === READ_BYTES; ) {
      bytes = readSync(descriptor, buffer, 0, READ_BYTES, null);
      const lines = `${rest}${buffer.toString('latin1', 0, bytes)}`.split('\n');
      rest = lines.pop() ?? '';
      const now = Date.now();
      for (const line of lines) arrive(line, now);
    }
  };
  if (everyMs > 0) setInterval(read, everyMs);
  process.stdout.write('ready\n');
  return read;
}

/**
 * The file, or that of this name in the directory of the account that it belongs to.
 * @param {string} path
 * @returns {string | undefined} undefined as long as there is none.
 */
function findFile(path) {
  const accounts = readdirSync(dirname(path)).filter((name) => name.startsWith('ac_'));
  return [path, ...accounts.map((name) => join(dirname(path), name, basename(path)))].find((one) => existsSync(one));
}
