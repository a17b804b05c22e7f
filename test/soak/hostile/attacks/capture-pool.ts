// A tenant fills the memory of captures: bodies of 1 MiB at many of its endpoints, and some that never end.

import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { newClient } from '../../../agent/client/support.ts';
import type { Attack, Counts, Target } from '../attack.ts';

const ENDPOINTS = 12;
/** Requests a second. */
const RATE = 8;
/** Requests that are never answered to the end; at most so many are open. */
const ENDLESS = 8;
const BODY = Buffer.alloc(1024 * 1024, 'x');
const VISIT_MS = 20_000;

const LIST = '{ endpoints(first: 100) { nodes { id publicUrl } } }';
const START = `mutation ($id: ID!) {
  startTrafficCapture(endpointId: $id, input: { bodyBytes: 1048576, minutes: 1440 }) { trafficCapture { keptBytes } } }`;
const LOOK = 'query ($id: ID!) { trafficCapture(endpointId: $id) { keptBytes } }';

export const attack: Attack = {
  name: 'B13 a tenant fills the memory of captures',
  async prepare(target) {
    const counts: Counts = { endpoints: 0, sent: 0, failed: 0, keptBytes: 0 };
    const server = createServer((incoming, response) => {
      incoming.resume();
      if (incoming.url === '/endless') response.write(BODY.subarray(1));
      else response.end(BODY);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const [host = '', agentPort] = target.agent.split(':');
    const { client, open } = newClient(
      { host, port: Number(agentPort), ca: target.ca },
      { authtoken: target.tenant.authtoken },
    );
    const tunnels = Array.from({ length: ENDPOINTS }, () => open({ forwardsTo: `127.0.0.1:${port}` }));
    const answered = await Promise.allSettled(tunnels.map((tunnel) => tunnel.answered));
    const urls = answered.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const ids = await capture(target, urls);
    counts.endpoints = ids.length;
    return async (_target, signal) => {
      await fill(target, { urls, ids }, counts, signal);
      await client.close();
      server.close();
      server.closeAllConnections();
      return counts;
    };
  },
};

/** Endpoints whose requests are captured. */
interface Captured {
  urls: string[];
  ids: string[];
}

async function fill(target: Target, { urls, ids }: Captured, counts: Counts, signal: AbortSignal): Promise<void> {
  const ends: (() => void)[] = [];
  const waiting = new Set<Promise<void>>();
  for (let n = 0; !signal.aborted && urls.length > 0; n++) {
    const url = urls[n % urls.length] as string;
    if (ends.length < ENDLESS) ends.push(beginEndless(target, url));
    if (waiting.size < RATE) {
      counts.sent = (counts.sent ?? 0) + 1;
      const one = post(target, url).catch(() => {
        counts.failed = (counts.failed ?? 0) + 1;
      });
      waiting.add(one);
      void one.then(() => waiting.delete(one));
    }
    await pause(1000 / RATE, undefined, { signal }).catch(() => {});
  }
  const kept = await Promise.all(ids.map((id) => ask(target, LOOK, { id }).catch(() => undefined)));
  for (const one of kept) counts.keptBytes = (counts.keptBytes ?? 0) + (one?.trafficCapture?.keptBytes ?? 0);
  for (const end of ends) end();
  await Promise.all(waiting);
}

/** Switches on that the requests to these URLs are captured. @returns the ids of the endpoints. */
async function capture(target: Target, urls: string[]): Promise<string[]> {
  const { endpoints } = await ask(target, LIST);
  const ids = endpoints.nodes.flatMap((node: { id: string; publicUrl: string }) =>
    urls.includes(node.publicUrl) ? node.id : [],
  );
  for (const id of ids) await ask(target, START, { id });
  return ids;
}

// biome-ignore lint/suspicious/noExplicitAny: the data of an answer, which whoever asked knows.
async function ask({ api, tenant }: Target, query: string, variables?: object): Promise<any> {
  const headers = { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ query, variables });
  const response = await fetch(`${api}/graphql`, { method: 'POST', headers, body });
  const { data, errors } = (await response.json()) as { data?: unknown; errors?: { message: string }[] };
  if (errors) throw new Error(errors[0]?.message);
  return data;
}

function visitor({ http }: Target, url: string, path: string, method: string) {
  const [host, port] = http.split(':');
  return request({ host, port, path, method, headers: { host: new URL(url).host }, agent: false, timeout: VISIT_MS });
}

async function post(target: Target, url: string): Promise<void> {
  const sent = visitor(target, url, '/', 'POST');
  // A connection that breaks once the answer has begun is an error of the answer, too.
  sent.on('timeout', () => sent.destroy(new Error('no answer'))).on('error', () => {});
  sent.end(BODY);
  const [response] = await once(sent, 'response');
  for await (const _ of response);
}

/** A request whose answer does not end. @returns what ends it. */
function beginEndless(target: Target, url: string): () => void {
  const sent = visitor(target, url, '/endless', 'GET');
  sent.on('error', () => {}).on('response', (response) => response.on('error', () => {}).resume());
  sent.end();
  return () => sent.destroy();
}
