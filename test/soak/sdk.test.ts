// `npm run soak -- sdk`

import { afterAll, beforeAll, expect, test } from 'vitest';
import { sdkSession } from '../support/agents/sdk.ts';
import { crowd, download, type Place, startUpstream, upload } from '../support/events/traffic.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';

const MIB = 100;
const ROUNDS = 5;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway?.close());

/** An endpoint that the SDK serves. */
async function served(...handler: Parameters<typeof startUpstream>): Promise<Place> {
  const upstream = await startUpstream(...handler);
  const session = await sdkSession(gateway, gateway.first?.authtoken ?? '');
  const listener = await session.httpEndpoint().scheme('http').listenAndForward(upstream.url);
  return { url: String(listener.url()), listener: gateway.http };
}

test(`${MIB} MiB each way over the SDK, ${ROUNDS} times, with equal checksums`, { timeout: 600_000 }, async () => {
  const place = await served();
  for (let round = 0; round < ROUNDS; round++) {
    const all = [await download(place, MIB), await upload(place, MIB, true), await upload(place, MIB, false)];
    for (const { sent, received, bytes } of all)
      expect({ received, bytes }).toEqual({ received: sent, bytes: MIB * 2 ** 20 });
  }
});

test('2,000 visitors at once over one session of the SDK, ten times', { timeout: 600_000 }, async () => {
  const place = await served((_, response) => response.end('hello'));
  for (let round = 0; round < 10; round++) expect(await crowd(place, 2000)).toEqual({ 200: 2000 });
});
