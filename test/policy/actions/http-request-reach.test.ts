// Whom policies may ask: nobody on the gateway's own networks, whatever names, redirects and templates say.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OutboundRequest } from '../../../src/http/outbound.ts';
import { ReachableHosts } from '../../../src/net/reachable-hosts.ts';
import { OutboundHttp } from '../../../src/policy/calls/outbound-http.ts';
import { sendFollowing } from '../../../src/policy/calls/redirects.ts';
import { dryRun } from '../../../src/policy/dry-run/dry-run.ts';
import { action, onRequest } from '../documents/support.ts';
import { type AskedServer, says, startAskedServer } from './asked-server.ts';

let server: AskedServer;
const guarded = new OutboundHttp({ hosts: new ReachableHosts([]) });
const open = new OutboundHttp({ hosts: new ReachableHosts([], true) });
beforeAll(async () => {
  server = await startAskedServer();
});
afterAll(() => {
  guarded.close();
  open.close();
  server.close();
});

const get = (url: string): OutboundRequest => ({ method: 'GET', url: new URL(url), fields: [], body: undefined });
const send = (request: OutboundRequest, by = guarded) => by.send('ac_1', request, AbortSignal.timeout(5000));

test.each([
  ['an address of this machine', 'https://127.0.0.1:1/', /must be at a public address/],
  ['one in another spelling', 'https://0x7f.1/', /must be at a public address/],
  ['one of IPv6 that stands for it', 'https://[::ffff:127.0.0.1]/', /must be at a public address/],
  ['the metadata of a cloud', 'https://169.254.169.254/latest', /must be at a public address/],
  ['a name of this machine', 'https://localhost:1/', /must be at a public address/],
  ['plain HTTP', 'http://example.com/', /must begin with https/],
  ['a user name', 'https://a:b@example.com/', /without a user name/],
])('%s is not asked', async (_, url, reason) => {
  await expect(send(get(url))).rejects.toThrow(reason);
});

test('a name is not asked that leads to a private address besides a public one', async () => {
  const addresses = [
    { address: '198.41.0.4', family: 4 },
    { address: '10.0.0.1', family: 4 },
  ];
  const resolve = (_name: string, _options: unknown, found: (error: null, all: typeof addresses) => void) =>
    found(null, addresses);
  const rebound = new OutboundHttp({ hosts: new ReachableHosts([]), standIn: { resolve, port: 1, ca: '' } });
  await expect(send(get('https://example.com/'), rebound)).rejects.toThrow(/10\.0\.0\.1 is not a public one/);
});

test.each(['https://a.internal/', 'http://A.INTERNAL./', 'http://a%2einternal/'])(
  '%s is never looked up',
  async (url) => {
    const lookedUp: string[] = [];
    const resolve = (name: string, _options: unknown, found: (error: Error, all: never[]) => void) => {
      lookedUp.push(name);
      found(new Error('it was looked up'), []);
    };
    const any = new OutboundHttp({ hosts: new ReachableHosts([], true), standIn: { resolve, port: 1, ca: '' } });
    await expect(send(get(url), any)).rejects.toThrow(/internal endpoints are not reached from here/);
    await expect(send(get('http://a.internal.example/'), any)).rejects.toThrow(/it was looked up/);
    expect(lookedUp).toEqual(['a.internal.example']);
  },
);

test('a redirect is checked anew', async () => {
  const asked: string[] = [];
  server.answer = says(302, '', { location: `https://127.0.0.1:${server.port}/secret` });
  const hop = (request: OutboundRequest) => {
    asked.push(request.url.pathname);
    return send(request, asked.length === 1 ? open : guarded);
  };
  await expect(sendFollowing(get(`${server.url}/first`), 10, hop)).rejects.toThrow(/must be at a public address/);
  expect(asked).toEqual(['/first', '/secret']);
});

test('a policy is refused that names such an address, and a computed one is not asked', async () => {
  const policy = (url: string) =>
    JSON.stringify(onRequest([action('http-request', { url, on_error: 'halt' }), action('deny')]));
  const owner = { accountId: 'ac_1', proto: 'https' } as const;
  const world = { sendOutbound: guarded.send.bind(guarded) };
  const run = (url: string) => dryRun(policy(url), owner, { url: 'https://app.example.com/' }, undefined, world);
  expect((await run('https://10.0.0.1/')).problems).toMatchObject([
    {
      path: 'on_http_request[0].actions[0].config.url',
      number: 2226,
      message: expect.stringContaining('public address'),
    },
  ]);
  expect((await run("https://${'10.0.0.1'}/")).outcome).toMatchObject({
    kind: 'refused',
    reason: expect.stringContaining('must be at a public address'),
  });
});
