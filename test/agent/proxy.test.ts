// An agent that reaches its gateway through a proxy, as in the networks of companies.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../agent/src/settings/config.ts';
import { type ForwardProxy, startForwardProxy } from '../support/forward-proxy.ts';
import { newIssuer } from '../support/issuer.ts';
import { agentLab } from './agent-lab.ts';
import { runToEnd, startProcess } from './agents.ts';
import { replyTo, startEcho, visit } from './visitors.ts';

const lab = agentLab();
const LOGIN = { user: 'device 7', password: 'p@ss:wörd%' };
const WRITTEN = `${encodeURIComponent(LOGIN.user)}:${encodeURIComponent(LOGIN.password)}`;
let proxy: ForwardProxy;
let authority: string;

beforeAll(async () => {
  const issuer = await newIssuer('CN=The company');
  authority = issuer.cert;
  proxy = await startForwardProxy(await issuer.issue({ dns: ['localhost'], purpose: 'server' }));
});
afterEach(() => {
  proxy.rules.login = null;
  proxy.rules.isForbidden = false;
  proxy.rules.resolve = (target) => target;
  proxy.asked.length = 0;
});
afterAll(() => proxy.close());

/** The URLs of the proxy. */
const urls = {
  http: (login = '') => `http://${login}127.0.0.1:${proxy.ports.http}`,
  https: (login = '') => `https://${login}localhost:${proxy.ports.https}`,
  socks5: (login = '') => `socks5://${login}127.0.0.1:${proxy.ports.socks}`,
};
const ways = Object.keys(urls) as (keyof typeof urls)[];

/** The environment of an agent that trusts the gateway, and the proxy too. */
function environment(way: keyof typeof urls, login = ''): Record<string, string> {
  const GATEWAY_CA = join(lab.directory(), 'both.pem');
  writeFileSync(GATEWAY_CA, `${lab.gateway.ca}\n${authority}`);
  return { ...lab.environment, GATEWAY_CA, PROXY_URL: urls[way](login) };
}

const isOnline = /connected to the gateway/;

describe.each(ways)('through a proxy by %s', (way) => {
  test('visitors are served, and the proxy sees nothing but TLS', async () => {
    proxy.rules.login = LOGIN;
    const agent = await lab.agent(environment(way, `${WRITTEN}@`));
    const { body: tunnel } = await agent.ask('POST', '/tunnels', lab.to());
    expect(await visit(lab.gateway, tunnel.url)).toMatchObject({ status: 200, body: 'hello' });
    expect(new Set(proxy.asked)).toEqual(new Set([lab.gateway.agent]));
    const sent = proxy.sent();
    expect(sent.length).toBeGreaterThan(200);
    expect(sent.includes(String(lab.environment.TUNNEL_AUTHTOKEN))).toBe(false);
  });

  test('a broken connection is made again, with the same URL', async () => {
    const agent = await lab.agent(environment(way));
    const { body: tunnel } = await agent.ask('POST', '/tunnels', lab.to());
    const logged = agent.log.all.length;
    proxy.cut();
    await agent.log.find(/tunnel active/, logged);
    expect(await visit(lab.gateway, tunnel.url)).toMatchObject({ status: 200, body: 'hello' });
    expect(proxy.asked).toEqual([lab.gateway.agent, lab.gateway.agent]);
  });

  test('the proxy looks up the name of the gateway, whose certificate is checked for that name', async () => {
    const [host = '', port] = lab.gateway.agent.split(':');
    proxy.rules.resolve = () => ({ host, port: Number(port) });
    const right = await lab.agent({ ...environment(way), GATEWAY_ADDR: 'localhost:443' });
    await right.log.find(isOnline);
    const wrong = await lab.agent({ ...environment(way), GATEWAY_ADDR: 'gateway.example.com:443' });
    await wrong.log.find(/TLS with the gateway at gateway\.example\.com:443 failed.*altnames/);
    expect(new Set(proxy.asked)).toEqual(new Set(['localhost:443', 'gateway.example.com:443']));
  });

  test('a refusal, a wrong password and a missing one are told, and a right one later is taken', async () => {
    proxy.rules.isForbidden = true;
    const forbidden = await lab.agent(environment(way));
    const why = way === 'socks5' ? 'not allowed by its rules' : '403 Forbidden';
    await forbidden.log.find(new RegExp(`does not connect to ${lab.gateway.agent}: ${why}`));
    proxy.rules.isForbidden = false;
    await forbidden.log.find(isOnline);

    proxy.rules.login = LOGIN;
    const anonymous = await lab.agent(environment(way));
    await anonymous.log.find(/the proxy at \S+ wants a user name and a password/);
    const agent = await lab.agent(environment(way, 'device:wrong-password@'));
    await agent.log.find(/the proxy at \S+ does not take the user name and the password/);
    expect(agent.log.all.join('\n')).not.toContain('wrong-password');
    proxy.rules.login = { user: 'device', password: 'wrong-password' };
    await agent.log.find(isOnline);
  });
});

test('a device keeps its reserved TCP port over a proxy, also while it is away', async () => {
  const echo = await startEcho();
  lab.cleanups.push(() => echo.close());
  const { body: reserved } = await lab.gateway.call('POST', '/reserved_addrs', { description: 'ssh of the device' });
  const port = Number(reserved.addr.split(':').at(-1));
  const start = async () => {
    const args = ['tcp', echo.at, '--port', String(port)];
    const agent = await startProcess(lab.directory(), args, environment('http'));
    lab.cleanups.push(() => agent.kill('SIGKILL'));
    expect(await agent.stdout.find(/^forwarding /)).toContain(`tcp://${reserved.addr}`);
    return agent;
  };
  const answers = () => replyTo(port, 'SSH-2.0-test');
  const agent = await start();
  expect(await answers()).toBe('SSH-2.0-test');
  await agent.kill('SIGTERM');

  const other = await lab.gateway.newAccount();
  const thief = await startProcess(lab.directory(), ['tcp', echo.at, '--port', String(port)], {
    ...environment('http'),
    ...(await lab.newEnvironment([], other)),
  });
  lab.cleanups.push(() => thief.kill('SIGKILL'));
  await thief.stderr.find(/is reserved by another account/);
  await start();
  expect(await answers()).toBe('SSH-2.0-test');
  expect(new Set(proxy.asked)).toEqual(new Set([lab.gateway.agent]));
});

test('diagnose says what the proxy does', async () => {
  const diagnose = async (env: Record<string, string>) => {
    const { code, stdout } = await runToEnd(lab.directory(), ['diagnose'], env);
    return { code, lines: stdout.split('\n').slice(1) };
  };
  expect(await diagnose(environment('http'))).toEqual({
    code: 0,
    lines: [
      expect.stringMatching(new RegExp(`^ok {6}proxy {5}connected through ${urls.http()}, .* ms\\)$`)),
      expect.stringMatching(/^ok {6}TLS .* certificate of /),
      expect.stringMatching(/^ok {6}protocol /),
    ],
  });
  proxy.rules.login = LOGIN;
  expect(await diagnose(environment('http', 'me:no@'))).toEqual({
    code: 1,
    lines: [
      expect.stringMatching(/^FAILED {2}proxy .*does not take the user name and the password$/),
      expect.stringMatching(/Look at the user name and the password in PROXY_URL/),
    ],
  });
});

describe('what is no proxy is told:', () => {
  test.each([
    [
      'nothing that listens',
      () => 'http://127.0.0.1:1',
      /the proxy at http:\/\/127\.0\.0\.1:1 cannot be reached.*ECONNREFUSED/,
    ],
    ['SOCKS where HTTP is meant', () => `http://127.0.0.1:${proxy.ports.socks}`, /does not connect|is no HTTP proxy/],
    ['HTTP where SOCKS is meant', () => `socks5://127.0.0.1:${proxy.ports.http}`, /is no SOCKS5 proxy/],
    ['a name that does not exist', () => 'socks5://proxy.invalid', /cannot be reached: .*ENOTFOUND/],
    ['a certificate of nobody', () => `https://localhost:${proxy.ports.https}`, /cannot be reached: .*certificate/],
  ])('%s', async (_, url, message) => {
    const agent = await lab.agent({ PROXY_URL: url() });
    expect(await agent.log.find(/connection to the gateway failed/)).toMatch(message);
  });
});

test('a device gets its credential through the proxy, too', async () => {
  const query = 'mutation { createProvisioningKey(input: { metadata: "" }) { token } }';
  const { body } = await lab.gateway.graphql(query);
  const agent = await lab.agent({
    ...environment('http'),
    ...{
      TUNNEL_AUTHTOKEN: '',
      TUNNEL_PROVISIONING_KEY: body.data.createProvisioningKey.token,
      GATEWAY_API: lab.gateway.api,
    },
  });
  await agent.log.find(isOnline);
  expect(proxy.asked).toEqual([new URL(lab.gateway.api).host, lab.gateway.agent]);
});

describe('the environment of other programs', () => {
  const proxyOf = (env: Record<string, string>, host: string, port = 443) =>
    readConfig(env, '/').proxyFor({ host, port })?.host ?? 'none';
  const HTTPS_PROXY = 'http://usual:3128';

  test.each<[Record<string, string>, string, string]>([
    [{ HTTPS_PROXY }, 'gateway.example.com', 'usual'],
    [{ https_proxy: 'usual:3128' }, 'gateway.example.com', 'usual'],
    [{ ALL_PROXY: 'socks5h://usual' }, 'gateway.example.com', 'usual'],
    [{ HTTP_PROXY: 'http://other' }, 'gateway.example.com', 'none'],
    [{ HTTPS_PROXY }, 'localhost', 'none'],
    [{ HTTPS_PROXY }, '127.0.0.1', 'none'],
    [{ HTTPS_PROXY, PROXY_URL: 'http://own' }, '127.0.0.1', 'own'],
    [{ HTTPS_PROXY, PROXY_URL: 'http://own', NO_PROXY: '*' }, 'gateway.example.com', 'own'],
    [{ HTTPS_PROXY, NO_PROXY: '*' }, 'gateway.example.com', 'none'],
    [{ HTTPS_PROXY, NO_PROXY: 'other.com, example.com' }, 'Gateway.Example.com.', 'none'],
    [{ HTTPS_PROXY, no_proxy: '.example.com' }, 'gateway.example.com', 'none'],
    [{ HTTPS_PROXY, NO_PROXY: '.example.com' }, 'example.com', 'usual'],
    [{ HTTPS_PROXY, NO_PROXY: '*.example.com' }, 'gateway.example.com', 'none'],
    [{ HTTPS_PROXY, NO_PROXY: 'example.com' }, 'notexample.com', 'usual'],
    [{ HTTPS_PROXY, NO_PROXY: 'example.com:8443' }, 'example.com', 'usual'],
    [{ HTTPS_PROXY, NO_PROXY: 'example.com:443' }, 'example.com', 'none'],
    [{ HTTPS_PROXY, NO_PROXY: '10.0.0.0/8' }, '10.9.8.7', 'none'],
    [{ HTTPS_PROXY, NO_PROXY: '10.0.0.0/8' }, '11.9.8.7', 'usual'],
    [{ HTTPS_PROXY, NO_PROXY: '192.168.1.1' }, '192.168.1.1', 'none'],
    [{ HTTPS_PROXY, NO_PROXY: 'fd00::/8' }, 'fd00::1', 'none'],
    [{ HTTPS_PROXY, NO_PROXY: '[fd00::1]:443' }, 'fd00::1', 'none'],
    [{ HTTPS_PROXY, NO_PROXY: '10.0.0.0/99 ,,' }, '10.0.0.1', 'usual'],
  ])('%j leads to %s through %s', (env, host, expected) => {
    expect(proxyOf(env, host)).toBe(expected);
  });

  test.each(['ftp://proxy', 'http://proxy/path', 'http://', 'http://a:%zz@proxy', 'http://u%3A:secret@proxy', '://'])(
    'PROXY_URL=%s is refused',
    (PROXY_URL) => {
      expect(() => readConfig({ PROXY_URL }, '/')).toThrow(/^PROXY_URL must /);
      expect(() => readConfig({ HTTPS_PROXY: PROXY_URL }, '/')).toThrow(/^HTTPS_PROXY must (?!.*secret)/);
    },
  );
});
