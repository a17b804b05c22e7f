// Every variable on real visits: none of them fails, and those that a test can know have the truth, over HTTP/1 and HTTP/2.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { vocabularyOf } from '../../../src/policy/cel/variables/phase-vocabulary.ts';
import type { PolicyPhase } from '../../../src/policy/cel/vocabulary.ts';
import type { Proto } from '../../../src/tunnel/endpoints/endpoint.ts';
import { action, onConnect, onRequest } from '../../policy/documents/support.ts';
import type { VisitOptions } from '../../support/visit.ts';
import { type PolicyLab, type Seen, startPolicyLab, visitOverHttp2 } from './lab.ts';

let lab: PolicyLab;
beforeAll(async () => {
  lab = await startPolicyLab();
});
afterAll(() => lab?.close());
beforeEach(() => {
  lab.upstream.origin = {};
});

const HOST = 'variables.tunnel.localhost';
const visitor: VisitOptions = {
  method: 'POST',
  path: '/%7Ea/../b%20c?x=1&x=2&y=%C3%A4',
  headers: {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0',
    cookie: 'theme=dark; id=7',
    'x-a': '1',
  },
  body: '{"a":1}',
};

/** As many as one action takes. */
const AT_ONCE = 50;

/** Actions that put all that a phase knows into `vars`, under names without dots. */
function everything(phase: PolicyPhase, proto: Proto): object[] {
  const names = Object.keys(vocabularyOf(phase, proto).variables).filter(
    (name) => !/^(?:@|(?:vars|actions)\b)/.test(name),
  );
  expect(names.length).toBeGreaterThan(10);
  const parts = Array.from({ length: Math.ceil(names.length / AT_ONCE) }, (_, i) =>
    names.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
  );
  return parts.map((part) => action('set-vars', { vars: part.map((name) => ({ [plainly(name)]: `\${${name}}` })) }));
}

const plainly = (name: string) => name.replaceAll('.', '__');
const dotted = (vars: object) =>
  Object.fromEntries(Object.entries(vars).map(([name, value]) => [name.replaceAll('__', '.'), value]));

const told = (phase: 'on_http_request' | 'on_http_response', proto: Proto) => ({
  [phase]: [{ actions: [...everything(phase, proto), action('custom-response', { body: '${vars.encodeJson()}' })] }],
});

const ofRequest = {
  'conn.client_ip': '127.0.0.1',
  'conn.server_ip': '127.0.0.1',
  'endpoint.host': HOST,
  'req.method': 'POST',
  'req.host': HOST,
  'req.url.path': '/b%20c',
  'req.url.raw_path': '/%7Ea/../b%20c',
  'req.url.query': 'x=1&x=2&y=%C3%A4',
  'req.url.query_params': { x: ['1', '2'], y: ['ä'] },
  'req.headers': expect.objectContaining({ 'x-a': ['1'] }),
  'req.content_length': 7,
  'req.content_type': 'application/json',
  'req.content_type.parameters': { charset: 'utf-8' },
  'req.user_agent.name': 'Firefox',
  'req.user_agent.is_bot': false,
  'req.user_agent.is_desktop': true,
  'req.Method': 'POST',
  'req.Path': '/b%20c',
};

const ofTls = {
  'endpoint.protocol': 'https',
  'req.url': `https://${HOST}/b%20c?x=1&x=2&y=%C3%A4`,
  'conn.tls.version': '1.3',
  'conn.tls.sni': HOST,
  'conn.tls.cipher_suite': expect.stringMatching(/^TLS_AES_/),
  'conn.tls.ja4_fingerprint': expect.stringMatching(/^t13d\d{4}(?:h1|h2|00)_[\da-f]{12}_[\da-f]{12}$/),
};

const ways = [
  ['HTTP/1.1', 'http', {}],
  ['HTTP/1.1', 'https', { ...ofTls, 'req.version': 'HTTP/1.1' }],
  ['HTTP/2', 'https', { ...ofTls, 'req.version': 'HTTP/2.0', 'conn.tls.negotiated_alpn': 'h2' }],
] as const;

describe.each(ways)('over %s, at an endpoint for %s,', (version, proto, ofWay) => {
  const visited = async (policy: object): Promise<Seen> => {
    const tunnel = await lab.tunnel(proto, HOST, policy);
    const url = `${proto}://${HOST}/`;
    const seen = version === 'HTTP/2' ? await visitOverHttp2(lab.gateway, url, visitor) : await lab.visit(url, visitor);
    await tunnel.close();
    return seen;
  };

  test('requests are what they are', async () => {
    const seen = await visited(told('on_http_request', proto));
    expect(seen?.status, seen?.body).toBe(200);
    expect(dotted(JSON.parse(seen?.body ?? ''))).toMatchObject({ ...ofRequest, ...ofWay });
  });

  test('answers are what they are, and what they answer', async () => {
    lab.upstream.origin = { status: 201, headers: { 'content-type': 'text/html; charset=utf-8', location: '/b' } };
    const seen = await visited(told('on_http_response', proto));
    expect(seen?.status, seen?.body).toBe(200);
    expect(dotted(JSON.parse(seen?.body ?? ''))).toMatchObject({
      ...{ ...ofRequest, ...ofWay },
      'res.status_code': 201,
      'res.StatusCode': '201',
      'res.content_type': 'text/html',
      'res.content_length': 13,
      'res.headers': expect.objectContaining({ location: ['/b'] }),
    });
  });
});

test.each(['http', 'https', 'tcp', 'tls'] as const)('new connections are what they are: %s', async (proto) => {
  const log = action('log', { metadata: { of: proto, all: '${vars}' } });
  const policy = onConnect([...everything('on_tcp_connect', proto), log, action('close-connection')]);
  const tunnel = await lab.tunnel(proto, proto === 'tcp' ? null : HOST, policy);
  const { protocol, host } = new URL(tunnel.url as string);
  const isTls = proto === 'https' || proto === 'tls';
  const door = protocol === 'tcp:' ? `127.0.0.1:${host.split(':')[1]}` : isTls ? lab.gateway.https : lab.gateway.http;
  expect(await lab.visit(`${isTls ? 'https' : 'http'}://${HOST}/`, {}, door)).toBeUndefined();
  const line = await lab.gateway.logged(({ metadata }) => (metadata as { of?: string } | undefined)?.of === proto);
  expect(dotted((line.metadata as { all: object }).all)).toMatchObject({
    'conn.client_ip': '127.0.0.1',
    'conn.server_ip': '127.0.0.1',
    'endpoint.protocol': proto,
    ...(proto === 'tcp' ? {} : { 'endpoint.host': HOST }),
    ...(isTls && { 'conn.tls.ja4_fingerprint': expect.stringMatching(/^t13d/) }),
    ...(proto === 'http' && { 'conn.tls.ja4_fingerprint': '' }),
  });
  await tunnel.close();
});

test('another spelling of a path does not get round a rule', async () => {
  const policy = onRequest([action('deny')], "req.url.path.startsWith('/admin')");
  const tunnel = await lab.tunnel('https', HOST, policy);
  const url = `https://${HOST}/`;
  const spellings = ['/admin', '/%61dmin', '/%61%64min/x', '/x/../admin', '/./admin', '/x/%2e%2E/admin', '/admin?x'];
  for (const path of spellings) {
    expect((await lab.visit(url, { path }))?.status, path).toBe(403);
    expect((await visitOverHttp2(lab.gateway, url, { path }))?.status, path).toBe(403);
  }
  expect(await lab.visit(url, { path: `${url}admin` })).toMatchObject({ status: 403 });
  expect(await lab.visit(url, { path: '/x?/admin' })).toMatchObject({ status: 200 });
  await tunnel.close();
});
