// Binds of a name that the ACL forbids, each with a traffic policy of 54 kB, four a second.

import { setTimeout as pause } from 'node:timers/promises';
import { callPeer, StreamType } from '../../../../src/protocol/index.ts';
import { openSession } from '../agent-session.ts';
import type { Attack, Counts, Target } from '../attack.ts';

const EVERY_MS = 250;
const CALL_MS = 60_000;
/** The number of the refusal that is right. */
const DENIED = /_316\b/;
const EXPRESSION = "req.method == 'GET' && req.url.path.startsWith('/a/b/c') && conn.client_ip != '192.0.2.1'";

/** @param seed makes it another policy each time, so that none is compiled already. */
function largePolicy(seed: number): string {
  const rules = Array.from({ length: 70 }, (_, i) => ({
    name: `${seed} ${i}`,
    expressions: Array.from({ length: 6 }, (_, j) => `${EXPRESSION} || req.host == '${seed}.${i}.${j}'`),
    actions: [{ type: 'deny' }],
  }));
  return JSON.stringify({ on_http_request: rules });
}

async function callApi({ api, tenant }: Target, method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${tenant.key}`, 'service-version': '2', 'content-type': 'application/json' };
  const response = await fetch(`${api}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return response.status === 204 ? undefined : ((await response.json()) as { id: string; token: string });
}

async function run(target: Target, signal: AbortSignal): Promise<Counts> {
  const counts = { sent: 0, denied: 0, refusedOtherwise: 0, bound: 0, unanswered: 0 };
  const acl = [`bind:allowed-${process.pid}.${target.baseDomain}`];
  const credential = await callApi(target, 'POST', '/credentials', { acl });
  if (!credential) return counts;
  const mux = await openSession(target, credential.token);
  const under: Promise<void>[] = [];
  try {
    while (!signal.aborted && !mux.isClosed) {
      const TrafficPolicy = largePolicy(++counts.sent);
      const Opts = { Hostname: `forbidden-${counts.sent}.${target.baseDomain}`, TrafficPolicy };
      const asked = callPeer(mux, StreamType.BIND, { Id: '', Proto: 'http', Opts, Extra: {} }, CALL_MS).then(
        (reply) => {
          const { Error: text = '' } = reply as { Error?: string };
          if (text === '') counts.bound++;
          else if (DENIED.test(text)) counts.denied++;
          else counts.refusedOtherwise++;
        },
        () => void counts.unanswered++,
      );
      under.push(asked);
      await pause(EVERY_MS, undefined, { signal }).catch(() => {});
    }
    await Promise.all(under);
  } finally {
    mux.close();
    await callApi(target, 'DELETE', `/credentials/${credential.id}`);
  }
  return counts;
}

/** None may be bound, and none compiled: `denied` is all of `sent`. */
export const attack: Attack = { name: 'B10 forbidden binds with large policies', run };
