// Visits to an HTTPS edge with all modules, for tests of what is told of them.

import { expect } from 'vitest';
import { type TestEdge, visitEdge } from '../edges/support.ts';
import { credentialsOf, ipPolicy, passwordOf, signed } from '../modules/cases.ts';
import { visitOverHttp2 } from '../policy/lab.ts';
import type { TrafficLab } from './lab.ts';

/** A template of policies. */
export const filled = (expression: string) => `\${${expression}}`;
/** A rule that notes something. */
export const log = (metadata: object) => ({ actions: [{ type: 'log', config: { metadata } }] });

/** Settings of every module of a route that decides something. */
export async function allModules({ account }: TrafficLab): Promise<object> {
  const said = {
    path: filled('req.url.path'),
    size: filled('size(req.url.path)'),
    bytes: filled("b'\\xff'"),
    list: filled('[1, 2.5, true, null]'),
    map: filled("{'a': {'b': 9007199254740993}}"),
    nothing: null,
  };
  const policy = { on_http_request: [log(said)], on_http_response: [log({ last: 1.5 })] };
  return {
    ip_restriction: { ip_policy_ids: [await ipPolicy(account, { '127.0.0.0/8': 'allow', '127.0.0.2/32': 'deny' })] },
    user_agent_filter: { deny: ['bad'] },
    basic_auth: credentialsOf('jo'),
    webhook_verification: { provider: 'github', secret: 'the secret' },
    compression: {},
    circuit_breaker: { volume_threshold: 4, error_threshold_percentage: 0.5, tripped_duration: 60 },
    traffic_policy: { value: JSON.stringify(policy) },
  };
}

/** Comes to an edge with these modules: let in over HTTP/1.1 and HTTP/2, and refused by each. */
export async function comeToEdge({ gateway }: TrafficLab, guarded: TestEdge): Promise<void> {
  const { headers: signature, body } = signed('the secret');
  const good = { ...passwordOf('jo'), ...signature, 'user-agent': 'good', 'accept-encoding': 'gzip' };
  const ask = async (path: string, headers: Record<string, string> = {}, from?: string) => {
    const all = { method: 'POST', headers: { ...good, ...headers }, body, from };
    return (await visitEdge(gateway, guarded, path, all)).status;
  };
  expect(await ask('/bytes/5000')).toBe(200);
  expect(await ask('/address', {}, '127.0.0.2')).toBe(403);
  expect(await ask('/agent', { 'user-agent': 'bad' })).toBe(403);
  expect(await ask('/password', passwordOf('jo', 'a wrong one'))).toBe(401);
  expect(await ask('/signature', { 'x-hub-signature-256': 'sha256=00' })).toBe(403);
  const byHttp2 = { method: 'POST', headers: good, body };
  expect(await visitOverHttp2(gateway, `https://${guarded.name}/bytes/5001`, byHttp2)).toMatchObject({ status: 200 });
  for (const status of [500, 502]) expect(await ask(`/status/${status}`)).toBe(status);
  expect(await ask('/open')).toBe(503);
}
