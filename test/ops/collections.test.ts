// What traffic costs in collections of garbage. Each of them looks through the whole heap, some 65 MB.

import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startAgent } from '../support/agents/agent.ts';
import { eventually } from '../support/eventually.ts';
import { newPlace, onServer } from '../support/gateway/place.ts';
import { startProcess } from '../support/gateway/process.ts';
import { root } from '../support/root.ts';

const UPLOAD_MB = 120;
/** 18 to 23 for 300 MB where V8 decides alone. */
const COLLECTIONS_MAX = 2;
const MB = Buffer.alloc(1024 * 1024);

test.skipIf(onServer)(
  'bytes that pass through an idle gateway do not make it look through its heap',
  async () => {
    const place = await newPlace();
    onTestFinished(() => place.remove());
    const preloaded = join(root, 'test/support/full-collections.mjs');
    const gateway = await startProcess({ NODE_OPTIONS: `--import=${preloaded}` }, place);
    onTestFinished(async () => void (await gateway.kill()));
    const collections = () => gateway.stdout.filter((line) => line === 'full collection').length;

    const service = createServer((incoming, response) => {
      incoming.resume().on('end', () => response.end('received'));
    });
    await once(service.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void service.close());
    const agent = await startAgent({
      authtoken: gateway.authtoken ?? '',
      gateway: gateway.agent,
      caFile: join(place.dataDir, 'ca.pem'),
    });
    onTestFinished(() => agent.remove());
    const [, localApi] = await agent.printed(/^ready api=(\S+)/);
    const forwardsTo = `127.0.0.1:${(service.address() as AddressInfo).port}`;
    const tunnel = await fetch(`${localApi}/tunnels`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ protocol: 'http', forwards_to: forwardsTo, domain: null }),
    });
    const { host } = new URL(((await tunnel.json()) as { url: string }).url);

    const [address = '', port] = gateway.http.split(':');
    const upload = async (megabytes: number) => {
      const headers = { host, 'content-length': megabytes * MB.length };
      const visit = request({ host: address, port, method: 'POST', headers });
      const answer = once(visit, 'response');
      await pipeline(Readable.from(Array.from({ length: megabytes }, () => MB)), visit);
      const [response] = await answer;
      expect(await response.setEncoding('utf8').toArray()).toEqual(['received']);
    };
    await upload(20);
    const before = collections();
    process.kill(gateway.pid, 'SIGUSR2');
    await eventually(() => expect(collections()).toBeGreaterThan(before));

    const collected = collections();
    await upload(UPLOAD_MB);
    expect(collections() - collected).toBeLessThanOrEqual(COLLECTIONS_MAX);
  },
  120_000,
);
