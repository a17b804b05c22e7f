// Answers on their way through an endpoint whose policy changes their heads.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies are full of them

import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Peer, startScript } from '../../edge/http1/support.ts';
import { bodyOf, type HandledLab, http2Session, onRequest, onResponse, startLab } from './lab.ts';

let lab: HandledLab;
let script: Awaited<ReturnType<typeof startScript>>;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab?.close());

const ADDS = onResponse('add-headers', { headers: { 'x-added': 'yes' } });
const LARGE = 'x'.repeat(100_000);

interface Answer {
  /** Pieces that are sent one after the other. */
  pieces: string[];
  /** Whether upstream closes after them. */
  closes?: boolean;
  method?: string;
  version?: string;
  /** All that the visitor gets; `ADDED` stands for the policy's field. */
  seen: string | RegExp;
}

const answers: Record<string, Answer> = {
  'head and body in one piece': {
    pieces: ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody'],
    seen: 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nx-added: yes\r\n\r\nbody',
  },
  'a byte at a time': {
    pieces: [...'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody'],
    seen: 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nx-added: yes\r\n\r\nbody',
  },
  'in chunks, with a trailer': {
    pieces: ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbo', 'dy\r\n0\r\nA: b\r\n', '\r\n'],
    seen: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nx-added: yes\r\n\r\n4\r\nbody\r\n0\r\nA: b\r\n\r\n',
  },
  'up to the end of the connection': {
    pieces: ['HTTP/1.1 200 OK\r\nA: b\r\n\r\nbo', 'dy'],
    closes: true,
    seen: 'HTTP/1.1 200 OK\r\nA: b\r\nx-added: yes\r\nConnection: close\r\n\r\nbody',
  },
  'up to the end, which comes at once': {
    pieces: ['HTTP/1.1 200 OK\r\n\r\n'],
    closes: true,
    seen: 'HTTP/1.1 200 OK\r\nx-added: yes\r\nConnection: close\r\n\r\n',
  },
  'to HEAD': {
    pieces: ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n'],
    method: 'HEAD',
    seen: 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nx-added: yes\r\n\r\n',
  },
  'of 204': {
    pieces: ['HTTP/1.1 204 No Content\r\nA: b\r\n\r\n'],
    seen: 'HTTP/1.1 204 No Content\r\nA: b\r\nx-added: yes\r\n\r\n',
  },
  'of 304 with a length': {
    pieces: ['HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n'],
    seen: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\nx-added: yes\r\n\r\n',
  },
  'after interim ones': {
    pieces: [
      'HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    ],
    seen: /^HTTP\/1\.1 103 .*\r\nLink: a\r\n\r\nHTTP\/1\.1 102 .*\r\n\r\nHTTP\/1\.1 200 OK\r\nContent-Length: 0\r\nx-added: yes\r\n\r\n$/s,
  },
  'to HTTP/1.0': {
    pieces: ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody'],
    version: 'HTTP/1.0',
    seen: 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nx-added: yes\r\nConnection: close\r\n\r\nbody',
  },
  'in chunks to HTTP/1.0': {
    pieces: ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n4;c\r\nbo', 'dy\r\n0\r\nHost: a\r\n\r\n'],
    version: 'HTTP/1.0',
    seen: 'HTTP/1.1 200 OK\r\nA: b\r\nx-added: yes\r\nConnection: close\r\n\r\nbody',
  },
  'of an old server': {
    pieces: ['HTTP/1.2 200 OK\nTransfer-Encoding: chunked\n', '\n4 \nbo', 'dy\n0\nHost: a\n', 'C: d\n\n'],
    seen: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nx-added: yes\r\n\r\n4\r\nbody\r\n0\r\nC: d\r\n\r\n',
  },
  'that is large': {
    pieces: [`HTTP/1.1 200 OK\r\nContent-Length: ${LARGE.length}\r\n\r\n${LARGE}`],
    seen: `HTTP/1.1 200 OK\r\nContent-Length: ${LARGE.length}\r\nx-added: yes\r\n\r\n${LARGE}`,
  },
};

/** Opens an endpoint before the script, and a visitor who has asked it once. */
async function asked(policy: object, method = 'GET', version = 'HTTP/1.1') {
  script = await startScript();
  const host = await lab.open(script.port, policy);
  const visitor = await lab.visitor();
  const ask = () => visitor.send(`${method} / ${version}\r\nHost: ${host}\r\n\r\n`);
  ask();
  return { host, visitor, ask, upstream: await nextAsked() };
}

async function nextAsked(): Promise<Peer> {
  const upstream = await script.next();
  await upstream.until('\r\n\r\n');
  return upstream;
}

describe('the bytes of an answer are as they were, but for the policy’s field:', () => {
  test.each(Object.entries(answers))('%s', async (_, { pieces, closes = false, method, version, seen }) => {
    const { visitor, upstream } = await asked(ADDS, method, version);
    for (const piece of pieces) {
      upstream.send(piece);
      await new Promise(setImmediate);
    }
    if (closes) upstream.socket.end();
    const is = (text: string) => (seen instanceof RegExp ? seen.test(text) : text.length >= seen.length);
    await visitor.until(is);
    if (typeof seen === 'string') expect(visitor.text).toBe(seen);
  });
});

test('an answer that upstream breaks off is cut for the visitor, too', async () => {
  const { visitor, upstream } = await asked(ADDS);
  upstream.send('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
  await visitor.until('half');
  upstream.socket.resetAndDestroy();
  expect(await visitor.closed).not.toBe('end');
});

test('an answer in place of upstream’s large one leaves the connection good for the next request', async () => {
  const { visitor, upstream, ask } = await asked(onResponse('custom-response', { status_code: 418, body: 'mine' }));
  upstream.send('HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n').send(Buffer.alloc(1_000_000));
  await visitor.until('mine');
  expect(visitor.take()).toMatch(/^HTTP\/1\.1 418 .*Connection: keep-alive\r\n\r\nmine$/s);
  expect(await upstream.closed).toBeDefined(); // Nobody wants the rest.
  ask();
  const next = await nextAsked();
  next.send('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  await visitor.until('mine');
});

test('over HTTP/2, an answer in place of a large one leaves the session good', async () => {
  script = await startScript();
  const policy = onResponse('custom-response', { status_code: 418, body: 'mine' });
  const host = await lab.open(script.port, policy, { protocol: 'https' });
  const session = http2Session(lab.gateway, host);
  for (let i = 0; i < 2; i++) {
    const stream = session.request({});
    const upstream = await nextAsked();
    upstream.send('HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n').send(Buffer.alloc(1_000_000));
    const [headers] = await once(stream, 'response');
    expect(headers[':status']).toBe(418);
    expect(String(await bodyOf(stream))).toBe('mine');
    expect(await upstream.closed).toBeDefined();
  }
});

describe('what visitors write into templates stays in its field:', () => {
  const reflects = {
    ...onRequest('add-headers', { headers: { 'x-reflected': "${req.url.query_params['x'][0]}|" } }),
    ...onResponse('add-headers', { headers: { 'x-reflected': "${req.url.query_params['x'][0]}|" } }),
  };
  test.each([
    ['a line end', 'a%0d%0aEvil:%201', 'aEvil: 1|'],
    ['a bare line feed', 'a%0aEvil:%201', 'aEvil: 1|'],
    ['a bare carriage return', 'a%0dEvil:%201', 'aEvil: 1|'],
    ['NUL', 'a%00b', 'ab|'],
    ['letters that Latin-1 does not have', '%E4%BD%A0', Buffer.from('你|').toString('latin1')],
    // Their upper half cut off, these would be CR and LF.
    [
      'letters that end with the bytes of a line end',
      '%C4%8D%C4%8AEvil:%201',
      Buffer.from('čĊEvil: 1|').toString('latin1'),
    ],
  ])('%s', async (_, written, field) => {
    script = await startScript();
    const host = await lab.open(script.port, reflects);
    const visitor = await lab.visitor();
    visitor.send(`GET /?x=${written} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const upstream = await nextAsked();
    upstream.send('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    await visitor.until('\r\n\r\n');
    expect(upstream.text.split('\r\n')).toContain(`x-reflected: ${field}`);
    expect(visitor.text.split('\r\n')).toEqual([
      'HTTP/1.1 200 OK',
      'Content-Length: 0',
      `x-reflected: ${field}`,
      '',
      '',
    ]);
  });
});

test.each([
  ['/a b/ü?[x]=|{}"<>^`', '/new/a%20b/%C3%BC?%5Bx%5D=%7C%7B%7D%22%3C%3E%5E%60'],
  ['/%41/100%25/%2541?a=%0d%0a', '/new/A/100%25/%2541?a=%0d%0a'],
])('a rewritten URL with odd characters is one that any upstream takes: %s', async (target, rewritten) => {
  script = await startScript();
  const host = await lab.open(script.port, onRequest('url-rewrite', { from: '^http://[^/]+(/.*)$', to: '/new$1' }));
  const visitor = await lab.visitor();
  visitor.send(`GET ${encodeURI(target).replaceAll('%25', '%')} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  const upstream = await nextAsked();
  expect(upstream.text.split('\r\n')[0]).toBe(`GET ${rewritten} HTTP/1.1`);
});

test('a policy may say another Host, and more of the visitor; what the gateway says of the visitor comes last', async () => {
  const headers = { host: 'other.example:8080', 'x-forwarded-for': '1.2.3.4', 'x-forwarded-proto': 'gopher' };
  const { upstream, host } = await asked(onRequest('add-headers', { headers }));
  const lines = upstream.text.split('\r\n');
  expect(lines).toContain('Host: other.example:8080');
  expect(lines.filter((line) => /^host:/i.test(line))).toHaveLength(1);
  expect(lines.slice(-5)).toEqual([
    expect.stringMatching(/^X-Forwarded-For: (?:::ffff:)?127\.0\.0\.1$/),
    'X-Forwarded-Proto: http',
    `X-Forwarded-Host: ${host}`,
    '',
    '',
  ]);
});
