// What becomes of each option that agents and SDKs of the original service send with a bind: the list in the code is what happens.

import { beforeAll, expect, test } from 'vitest';
import { moduleDescriptors } from '../../src/edge/modules/index.ts';
import { bindExtras, bindOptions } from '../../src/tunnel/bind/option-list.ts';
import { authorityPem } from '../contract/rows/certificates.ts';
import { codeOf } from '../support/agents/raw-agent.ts';
import { again, back, rawAgents } from './raw-agents.ts';

const lab = rawAgents('options');
/** The code of what is refused because it is not acted on; of a binding that is none here. */
const REFUSED = 90203;

interface Sample {
  proto?: string;
  options?: object;
  extra?: object;
}

const app = { provider: 'google', client_id: 'an app', client_secret: 'a secret' };
const issuer = { issuer_url: 'https://id.example.com', client_id: 'an app', client_secret: 'a secret' };
const sealed = { sealed_client_secret: 'eA==' };
const webhook = { provider: 'github', secret: 'a secret' };
let authority: string;
beforeAll(async () => {
  authority = Buffer.from(await authorityPem()).toString('base64');
});

/** How agents send each. What they send of those that act is tested where the modules are. */
const samples: Record<string, () => Sample> = {
  URL: () => ({ options: { URL: `http://${lab.newName()}` } }),
  Hostname: () => ({}),
  Domain: () => ({ options: { Hostname: '', Domain: lab.newName() } }),
  Subdomain: () => ({ options: { Hostname: '', Subdomain: lab.newName().split('.')[0] } }),
  Addr: () => ({ proto: 'tcp', options: { Addr: '' } }),
  ProxyProto: () => ({ options: { ProxyProto: 2 } }),
  Auth: () => ({ options: { Auth: 'someone:a password' } }),
  BasicAuth: () => ({ options: { BasicAuth: { credentials: [{ username: 'a', cleartext_password: 'a password' }] } } }),
  'BasicAuth.hashed_password': () => ({
    options: { BasicAuth: { credentials: [{ username: 'a', hashed_password: 'eA==' }] } },
  }),
  OAuth: () => ({ options: { OAuth: app } }),
  'OAuth.sealed_client_secret': () => ({ options: { OAuth: { ...app, client_secret: '', ...sealed } } }),
  OIDC: () => ({ options: { OIDC: issuer } }),
  'OIDC.sealed_client_secret': () => ({ options: { OIDC: { ...issuer, client_secret: '', ...sealed } } }),
  SAML: () => ({ options: { SAML: { idp_metadata: '<x/>' } } }),
  IPRestriction: () => ({ options: { IPRestriction: { allow_cidrs: ['127.0.0.0/8'], deny_cidrs: [] } } }),
  UserAgentFilter: () => ({ options: { UserAgentFilter: { allow: [], deny: ['bot'] } } }),
  WebhookVerification: () => ({ options: { WebhookVerification: webhook } }),
  'WebhookVerification.sealed_secret': () => ({
    options: { WebhookVerification: { provider: 'github', sealed_secret: 'eA==' } },
  }),
  MutualTLSCA: () => ({ proto: 'https', options: { MutualTLSCA: { mutual_tls_ca: authority } } }),
  MutualTLSAtEdge: () => ({
    proto: 'tls',
    options: { TLSTermination: {}, MutualTLSAtEdge: { mutual_tls_ca: authority } },
  }),
  MutualTLSAtAgent: () => ({ proto: 'tls', options: { MutualTLSAtAgent: true } }),
  TLSTermination: () => ({ proto: 'tls', options: { TLSTermination: {} } }),
  'TLSTermination.sealed_key': () => ({ proto: 'tls', options: { TLSTermination: { sealed_key: 'eA==' } } }),
  Compression: () => ({ options: { Compression: {} } }),
  CircuitBreaker: () => ({ options: { CircuitBreaker: { error_threshold: 0.5 } } }),
  RequestHeaders: () => ({ options: { RequestHeaders: { add: ['x-a:1'], remove: ['x-b'], addParsed: {} } } }),
  ResponseHeaders: () => ({ options: { ResponseHeaders: { add: ['x-a:1'], remove: ['x-b'], addParsed: {} } } }),
  WebsocketTCPConverter: () => ({ options: { WebsocketTCPConverter: {} } }),
  TrafficPolicy: () => ({ options: { TrafficPolicy: '{"on_http_request":[{"actions":[{"type":"deny"}]}]}' } }),
  Policy: () => ({ options: { Policy: { inbound: [{ expressions: [], actions: [{ type: 'deny' }] }] } } }),
  HostHeader: () => ({ options: { HostHeader: 'localhost:3000' } }),
  UpstreamTimeout: () => ({ options: { UpstreamTimeout: 90 } }),
  HostHeaderRewrite: () => ({ options: { HostHeaderRewrite: true } }),
  LocalURLScheme: () => ({ options: { LocalURLScheme: 'https' } }),
  'Extra.Name': () => ({ extra: { Name: 'a name' } }),
  'Extra.Metadata': () => ({ extra: { Metadata: '{}' } }),
  'Extra.PoolingEnabled': () => ({ extra: { PoolingEnabled: true } }),
  'Extra.Bindings': () => ({ extra: { Bindings: ['public'] } }),
  'Extra.Token': () => ({ extra: { Token: 'of another gateway' } }),
  'Extra.Description': () => ({ extra: { Description: 'what it is for' } }),
  'Extra.IPPolicyRef': () => ({ extra: { IPPolicyRef: 'ipp_1' } }),
};

const listed = {
  ...bindOptions,
  ...Object.fromEntries(Object.entries(bindExtras).map(([name, option]) => [`Extra.${name}`, option])),
};

test('the list has each option that a module acts on', () => {
  const names = moduleDescriptors.flatMap(({ bindOption }) => bindOption?.names ?? []);
  expect(names.length).toBeGreaterThan(12);
  for (const name of names) expect(bindOptions[name]?.effect, name).toBe('acts');
});

test.each(Object.entries(listed))('%s', async (name, { effect }) => {
  const { proto = 'http', options, extra } = samples[name]?.() ?? expect.unreachable(`there is no sample of ${name}`);
  const agent = await lab.agentOf();
  const bind = (more: object) =>
    agent.bind('', {
      ...{ Proto: proto, Opts: { ...(proto === 'tcp' ? {} : { Hostname: lab.newName() }), ...options } },
      Extra: { Token: '', IPPolicyRef: '', Metadata: '', Bindings: [], PoolingEnabled: false, ...extra, ...more },
    });
  const answer = await bind({});
  if (effect === 'refused') {
    expect(codeOf(answer)).toBe(REFUSED);
    expect(answer.Error).toContain(name.split('.').at(-1));
  } else {
    expect(answer.Error).toBe('');
    const [asked] = Object.entries(options ?? {}).filter(([one]) => name.startsWith(one) && name !== 'Addr');
    if (asked) expect(answer.Opts[asked[0]]).toEqual(asked[1]);
  }
});

test('a binding that is none here is refused', async () => {
  const agent = await lab.agentOf();
  const answer = await agent.bind(lab.newName(), { Extra: { Bindings: ['kubernetes'] } });
  expect(codeOf(answer)).toBe(90202);
});

test.each<[string, string, () => object]>([
  ['by a URL', 'http', () => ({ URL: `http://${lab.newName()}` })],
  ['by a URL without a host', 'http', () => ({ URL: 'http://' })],
  ['by a URL without anything', 'https', () => ({ URL: '' })],
  ['by nothing', 'https', () => ({})],
  ['by a URL without a host beside it', 'https', () => ({ URL: 'https://', Hostname: lab.newName() })],
  ['by Hostname', 'http', () => ({ Hostname: lab.newName() })],
  ['by Domain', 'http', () => ({ Domain: lab.newName() })],
  ['by Subdomain', 'http', () => ({ Subdomain: lab.newName().split('.')[0] })],
  ['of TLS by a URL without a host', 'tls', () => ({ URL: 'tls://' })],
  ['of TCP by a URL without a host', 'tcp', () => ({ URL: 'tcp://' })],
  ['of TCP by nothing', 'tcp', () => ({ Addr: '' })],
  ['of an internal name by a URL with a port', 'https', () => ({ URL: `https://${lab.newName()}.internal:8443` })],
  ['of an internal name by Hostname with a port', 'http', () => ({ Hostname: `${lab.newName()}.internal:8080` })],
  ['of an internal name of TCP by a URL', 'tcp', () => ({ URL: `tcp://${lab.newName()}.internal:5432` })],
  ['of an internal name of TCP by Addr', 'tcp', () => ({ Addr: `${lab.newName()}.internal:5432` })],
])(
  'an address that was asked for %s comes back with the session, by the options of the answer',
  async (_, proto, ask) => {
    const agent = await lab.agentOf();
    const first = await agent.bind('', { Proto: proto, Opts: ask() });
    expect(first.Error).toBe('');
    agent.socket.destroy();
    await agent.closed;
    const returned = await lab.agentOf(lab.credential, back(agent));
    const second = await returned.bind('', { Proto: proto, Opts: first.Opts, ...again(first) });
    expect(second).toMatchObject({ Error: '', URL: first.URL, Id: first.Id });
  },
);
