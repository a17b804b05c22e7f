// Hostile heads at an endpoint whose policy changes every head: one request in is still at most one request out.

import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { HostileRequest } from '../../edge/http1/hostile-request.ts';
import { corpus } from '../../edge/http1/hostile-requests.ts';
import { listen } from '../../edge/sockets.ts';
import { reserve } from '../../support/agents/live.ts';
import { type HandledLab, onRequest, onResponse, readsBodies, startLab } from './lab.ts';

const { on_http_request: adds } = onRequest('add-headers', { headers: { 'x-added': 'yes' } });
const ADDS = {
  on_http_request: [...onRequest('allow-half-close').on_http_request, ...adds],
  ...onResponse('add-headers', { headers: { 'x-answered': 'yes' } }),
};
const READS = { ...ADDS, on_http_request: [...readsBodies.on_http_request, ...ADDS.on_http_request] };

let lab: HandledLab;
let port: number;
/** Of each request that came to upstream: whether it had the policy's field once. */
let reached: boolean[] = [];
const upstream = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
  request.resume().on('end', () => {
    reached.push(request.headers['x-added'] === 'yes');
    response.end('ok');
  });
});

beforeAll(async () => {
  lab = await startLab();
  port = await listen(upstream);
});
afterAll(async () => {
  await lab?.close();
  upstream.closeAllConnections();
  upstream.close();
});

/** The same below a domain that names can be reserved in; it is as long. */
const below = (tld: string, text: string) => text.replaceAll('.test', `.${tld}`).replaceAll('.Test', `.${tld}`);

/** The statuses of all answers, and how many have the policy's field. */
async function send({ bytes }: HostileRequest, tld: string) {
  const peer = await lab.visitor({ allowHalfOpen: true });
  peer.send(below(tld, bytes)).socket.end();
  const heads = (await peer.toEnd()).split(/(?=HTTP\/1\.1 \d{3} )/);
  return {
    statuses: heads.flatMap((head) => (head === '' ? [] : Number(head.slice(9, 12)))),
    answered: heads.filter((head) => /^x-answered: yes\r$/m.test(head)).length,
  };
}

test.each([
  ['adds a field', 'info', ADDS],
  ['reads the body, too', 'site', READS],
])('every head of the corpus gets the same answers where a policy %s', async (_, tld, policy) => {
  for (const domain of [`app.${tld}`, `other.${tld}`]) {
    const id = await reserve(lab.account, domain);
    onTestFinished(async () => void (await lab.account.call('DELETE', `/reserved_domains/${id}`)));
    await lab.open(port, policy, { domain });
  }
  for (const entry of corpus) {
    reached = [];
    const { statuses, answered } = await send(entry, tld);
    expect(statuses, entry.name).toEqual(entry.statuses);
    expect(reached, entry.name).toEqual(Array(entry.reaching).fill(true));
    expect(answered, entry.name).toBe(entry.reaching);
  }
});
