// Every variable on real visits: none of them fails, and those that a test can know have the truth, over HTTP/1 and HTTP/2.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { vocabularyOf } from '../../src/edge/cel/variables/vocabulary.ts';
import { action, onConnect } from '../policy/documents-support.ts';
import type { VisitOptions } from '../support/visit.ts';
import { type PolicyLab, type Seen, startPolicyLab, visitOverHttp2 } from './policy-lab.ts';

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
  path: '/a%20b/c?x=1&x=2&y=%C3%A4',
  headers: {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0',
    cookie: 'theme=dark; id=7',
    'x-a': '1',
  },
  body: '{"a":1}',
};

/** All variables, written into one text in JSON. */
const everything = (phase: 'on_http_request' | 'on_http_response', proto: 'http' | 'https') => {
  const names = Object.keys(vocabularyOf(phase, proto).variables).filter((name) => !/^(?:vars|actions)\b/.test(name));
  expect(names.length).toBeGreaterThan(50);
  const body = `{${names.map((name) => `"${name}":\${encodeJson(${name})}`).join(',')}}`;
  return { [phase]: [{ actions: [action('custom-response', { body, headers: { 'content-type': 'text/plain' } })] }] };
};

const ofRequest = {
  'conn.client_ip': '127.0.0.1',
  'conn.server_ip': '127.0.0.1',
  'endpoint.host': HOST,
  'req.method': 'POST',
  'req.host': HOST,
  'req.url.path': '/a b/c',
  'req.url.raw_path': '/a%20b/c',
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
  'req.Path': '/a b/c',
};

const ofTls = {
  'endpoint.protocol': 'https',
  'req.url': `https://${HOST}/a%20b/c?x=1&x=2&y=%C3%A4`,
  'conn.tls.version': '1.3',
  'conn.tls.sni': HOST,
  'conn.tls.cipher_suite': expect.stringMatching(/^TLS_AES_/),
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
    const seen = await visited(everything('on_http_request', proto));
    expect(seen?.status, seen?.body).toBe(200);
    expect(JSON.parse(seen?.body ?? '')).toMatchObject({ ...ofRequest, ...ofWay });
  });

  test('answers are what they are, and what they answer', async () => {
    lab.upstream.origin = { status: 201, headers: { 'content-type': 'text/html; charset=utf-8', location: '/b' } };
    const seen = await visited(everything('on_http_response', proto));
    expect(seen?.status, seen?.body).toBe(200);
    expect(JSON.parse(seen?.body ?? '')).toMatchObject({
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
  const names = Object.keys(vocabularyOf('on_tcp_connect', proto).variables).filter(
    (name) => !/^vars|^actions/.test(name),
  );
  expect(names.length).toBeGreaterThan(10);
  const metadata = Object.fromEntries(names.map((name) => [name, `\${${name}}`]));
  const tunnel = await lab.tunnel(
    proto,
    proto === 'tcp' ? null : HOST,
    onConnect([action('log', { metadata: { ...metadata, of: proto } }), action('close-connection')]),
  );
  const { protocol, host } = new URL(tunnel.url as string);
  const isTls = proto === 'https' || proto === 'tls';
  const door = protocol === 'tcp:' ? `127.0.0.1:${host.split(':')[1]}` : isTls ? lab.gateway.https : lab.gateway.http;
  expect(await lab.visit(`${isTls ? 'https' : 'http'}://${HOST}/`, {}, door)).toBeUndefined();
  const line = await lab.gateway.logged(({ metadata }) => (metadata as { of?: string } | undefined)?.of === proto);
  expect(line.metadata).toMatchObject({
    'conn.client_ip': '127.0.0.1',
    'conn.server_ip': '127.0.0.1',
    'endpoint.protocol': proto,
    ...(proto === 'tcp' ? {} : { 'endpoint.host': HOST }),
  });
  await tunnel.close();
});
