// Each module of a route: settings, other settings, and what visitors meet without it, with the one and with the other.

import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import WebSocket from 'ws';
import type { Owner } from '../../support/gateway/gateway.ts';
import { done, type EdgeVisitOptions, type Listeners, shown } from '../edges/support.ts';
import type { Prober } from './prober.ts';

type Caller = Pick<Owner, 'call'>;
export type Settings = Record<string, unknown>;

export interface ModuleCase {
  /** The last part of its path. */
  module: string;
  one: (owner: Caller) => Promise<Settings> | Settings;
  /** Other settings; where a module has none, it is off. */
  two: (owner: Caller) => Promise<Settings> | Settings;
  /** What `probe` finds: without the module, with the one, with the other. */
  without: unknown;
  withOne: unknown;
  withTwo: unknown;
  probe(visitor: Prober): Promise<unknown>;
}

/** An IP policy with these rules. @returns its id. */
export async function ipPolicy(owner: Caller, rules: Record<string, 'allow' | 'deny'>): Promise<string> {
  const { id } = await done(owner, 'POST', '/ip_policies', {});
  for (const [cidr, action] of Object.entries(rules))
    await done(owner, 'POST', '/ip_policy_rules', { ip_policy_id: id, cidr, action });
  return id;
}

export const passwordOf = (user: string, password = `the password of ${user}`) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
export const credentialsOf = (...users: string[]) => ({
  credentials: users.map((username) => ({ username, password: `the password of ${username}` })),
});

/** A webhook that is signed with a secret. */
export function signed(secret: string, body = '{"a": 1}'): EdgeVisitOptions {
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return { method: 'POST', body, headers: { 'x-hub-signature-256': `sha256=${signature}` } };
}

/** What comes back over a WebSocket to an upstream that echoes TCP; the status when there is none. */
export function echoed(
  { https, ca }: Listeners,
  { name }: { name: string },
  path = '/',
  headers: Record<string, string> = {},
): Promise<unknown> {
  const options = { ca, servername: name, headers: { ...headers, host: name } };
  const socket = new WebSocket(`wss://${https}${path}`, options);
  return new Promise((resolve, reject) => {
    socket.on('unexpected-response', (request, { statusCode }) => {
      request.destroy();
      resolve(statusCode);
    });
    socket.on('error', reject);
    socket.on('open', () => socket.send('echo'));
    socket.on('message', async (data: Buffer) => {
      socket.close();
      await once(socket, 'close');
      resolve(String(data));
    });
  });
}

const policyOf = (value: string) => ({
  value: JSON.stringify({
    on_http_request: [
      { expressions: [`req.url.path == '/${value}'`], actions: [{ type: 'deny', config: { status_code: 418 } }] },
    ],
    on_http_response: [{ actions: [{ type: 'add-headers', config: { headers: { 'x-policy': value } } }] }],
  }),
});
const legacyOf = (value: string) => ({
  inbound: [{ expressions: [`req.Path == '/${value}'`], actions: [{ type: 'deny', config: { status_code: 418 } }] }],
  outbound: [{ name: 'all', actions: [{ type: 'add-headers', config: { headers: { 'x-policy': value } } }] }],
});
const policyMet = async (visitor: Prober) => {
  const { headers } = await visitor.visit('/');
  return [headers['x-policy'], (await visitor.visit('/one')).status, (await visitor.visit('/two')).status];
};
const policyOutcome = { without: [undefined, 200, 200], withOne: ['one', 418, 200], withTwo: ['two', 200, 418] };

/** What asks for no page, and a preflight: nobody is signed in. */
function signInCase(module: string, settings: Settings): ModuleCase {
  const preflight = { origin: 'https://a.example', 'access-control-request-method': 'PUT' };
  return {
    module,
    one: () => settings,
    two: () => ({ ...settings, options_passthrough: true }),
    probe: (visitor) => visitor.fates([{}, { method: 'OPTIONS', headers: preflight }]),
    without: [200, 200],
    withOne: [90400, 90400],
    withTwo: [90400, 200],
  };
}

export const moduleCases: ModuleCase[] = [
  {
    module: 'ip_restriction',
    one: async (owner) => ({
      ip_policy_ids: [await ipPolicy(owner, { '127.0.0.0/30': 'allow', '127.0.0.2/32': 'deny' })],
    }),
    two: async (owner) => ({ ip_policy_ids: [await ipPolicy(owner, { '127.0.0.2/32': 'allow' })] }),
    probe: (visitor) => visitor.fates([{ from: '127.0.0.1' }, { from: '127.0.0.2' }, { from: '127.0.0.9' }]),
    without: [200, 200, 200],
    withOne: [200, 3205, 3205],
    withTwo: [3205, 200, 3205],
  },
  {
    module: 'user_agent_filter',
    one: () => ({ deny: ['(?i)^curl'] }),
    two: () => ({ allow: ['^Curl/8'], deny: ['.*'] }),
    probe: (visitor) =>
      visitor.fates(['curl/7', 'Curl/8', 'Mozilla/5'].map((agent) => ({ headers: { 'user-agent': agent } }))),
    without: [200, 200, 200],
    withOne: [3211, 3211, 200],
    withTwo: [3211, 200, 3211],
  },
  {
    module: 'basic_auth',
    one: () => credentialsOf('one'),
    two: () => ({ ...credentialsOf('two'), realm: 'another' }),
    async probe(visitor) {
      const { headers } = await visitor.visit('/');
      const wrong = passwordOf('one', 'wrong password');
      const fates = await visitor.fates([passwordOf('one'), passwordOf('two'), wrong].map((headers) => ({ headers })));
      return [/realm="(\w+)"/.exec(headers['www-authenticate'] ?? '')?.[1], ...fates];
    },
    without: [undefined, 200, 200, 200],
    withOne: ['gateway', 200, 3212, 3212],
    withTwo: ['another', 3212, 200, 3212],
  },
  signInCase('oidc', { issuer: 'https://id.example.com', client_id: 'a', client_secret: 'b' }),
  signInCase('oauth', { provider: { github: { client_id: 'a', client_secret: 'b' } } }),
  {
    module: 'webhook_verification',
    one: () => ({ provider: 'github', secret: 'secret one' }),
    two: () => ({ provider: 'github', secret: 'secret two' }),
    async probe(visitor) {
      const fates = await visitor.fates([
        signed('secret one'),
        signed('secret two'),
        { method: 'POST', body: '{"a": 1}' },
      ]);
      const bodies = await Promise.all(
        ['secret one', 'secret two'].map(async (secret) => visitor.visit('/', signed(secret))),
      );
      return [...fates, ...bodies.filter(({ status }) => status === 200).map((answer) => shown(answer).body)];
    },
    without: [200, 200, 200, '{"a": 1}', '{"a": 1}'],
    withOne: [200, 3204, 3204, '{"a": 1}'],
    withTwo: [3204, 200, 3204, '{"a": 1}'],
  },
  {
    module: 'traffic_policy',
    one: () => policyOf('one'),
    two: () => policyOf('two'),
    probe: policyMet,
    ...policyOutcome,
  },
  { module: 'policy', one: () => legacyOf('one'), two: () => legacyOf('two'), probe: policyMet, ...policyOutcome },
  {
    module: 'request_headers',
    one: () => ({ add: { 'x-added': 'one', 'X-Sent': 'replaced' }, remove: ['x-sent'] }),
    two: () => ({ add: { 'x-added': 'two' } }),
    async probe(visitor) {
      const { headers } = shown(await visitor.visit('/', { headers: { 'x-sent': 'by the visitor' } }));
      return [headers['x-added'], headers['x-sent']];
    },
    without: [undefined, 'by the visitor'],
    withOne: ['one', 'replaced'],
    withTwo: ['two', 'by the visitor'],
  },
  {
    module: 'response_headers',
    one: () => ({ add: { 'x-added': 'one' }, remove: ['content-type'] }),
    two: () => ({ add: { 'x-added': 'two' } }),
    async probe(visitor) {
      const { headers, status, body } = await visitor.visit('/');
      return [headers['x-added'], headers['content-type'], status, body.length > 1000];
    },
    without: [undefined, 'application/json', 200, true],
    withOne: ['one', undefined, 200, true],
    withTwo: ['two', 'application/json', 200, true],
  },
  {
    module: 'compression',
    one: () => ({}),
    two: () => ({ enabled: false }),
    async probe(visitor) {
      const { headers } = await visitor.visit('/', { headers: { 'accept-encoding': 'gzip' } });
      const plain = await visitor.visit('/');
      return [headers['content-encoding'], headers.vary, plain.headers['content-encoding'], shown(plain).upstream];
    },
    without: [undefined, undefined, undefined, 'one'],
    withOne: ['gzip', 'Accept-Encoding', undefined, 'one'],
    withTwo: [undefined, undefined, undefined, 'one'],
  },
  {
    module: 'circuit_breaker',
    one: () => ({ volume_threshold: 1, error_threshold_percentage: 0.5, tripped_duration: 60 }),
    two: () => ({ volume_threshold: 2, error_threshold_percentage: 0.5, tripped_duration: 60 }),
    async probe(visitor) {
      const fates = [];
      for (const path of ['/status/500', '/status/502', '/']) fates.push(await visitor.fate({}, path));
      return fates;
    },
    without: [500, 502, 200],
    withOne: [500, 3202, 3202],
    withTwo: [500, 502, 3202],
  },
  {
    module: 'upstream',
    one: () => ({ host_header: 'one.site' }),
    two: () => ({ host_header: 'https://two.site:8443', timeout: 3600, allow_half_close: true }),
    async probe(visitor) {
      const { host } = shown(await visitor.visit()).headers;
      return host === visitor.edge.name ? 'the edge' : host;
    },
    without: 'the edge',
    withOne: 'one.site',
    withTwo: 'two.site:8443',
  },
  {
    module: 'websocket_tcp_converter',
    one: () => ({}),
    two: () => ({ enabled: false }),
    probe: async ({ gateway, edge }) => echoed(gateway, edge),
    without: 200,
    withOne: 'echo',
    withTwo: 200,
  },
];
