// What the attacks on `/graphql` share: requests at a fixed rate, over few connections, their answers counted by status.

import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Counts } from './attack.ts';

const CONNECTIONS_MAX = 16;
const WAIT_MS = 30_000;

export interface Sent {
  /** A document, or what is sent in its place; also a document with variables. */
  body: object;
  key: string | null;
}

/** Sends requests until the signal aborts, so many a second, each when its time comes. */
export async function attackGraphql(
  api: string,
  perSecond: number,
  next: (number: number) => Sent,
  signal: AbortSignal,
): Promise<Counts> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  const counts: Counts = {};
  const count = (what: string, by = 1) => {
    counts[what] = (counts[what] ?? 0) + by;
  };
  const under = new Set<Promise<void>>();
  for (let number = 0; !signal.aborted; number++) {
    if (under.size < CONNECTIONS_MAX) {
      const one = post(agent, api, next(number), signal).then(
        ({ status, bytes }) => {
          count(`status ${status}`);
          count('bytes', bytes);
        },
        () => count(signal.aborted ? 'ended' : 'failed'),
      );
      under.add(one);
      void one.finally(() => under.delete(one));
      count('sent');
    } else count('held back');
    await sleep(1000 / perSecond, undefined, { signal }).catch(() => undefined);
  }
  await Promise.allSettled(under);
  agent.destroy();
  return counts;
}

function post(agent: Agent, api: string, { body, key }: Sent, signal: AbortSignal) {
  return new Promise<{ status: number; bytes: number }>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) };
    const options = { agent, method: 'POST', headers, signal, timeout: WAIT_MS };
    const sent = request(`${api}/graphql`, options, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes }));
      response.on('error', reject);
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}
