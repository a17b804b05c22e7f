// Visitors and upstreams that send what nobody expects, and those that leave: what is told of them is JSON in UTF-8, without
// secrets, and says how it ended. All visits are made before: events are collected for a second, which is spent once.

import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { httpName } from '../../support/agents/sdk.ts';
import { newEdge, newName, visitEdge } from '../edges/support.ts';
import { type Ear, REQUESTS, startTrafficLab, type TrafficLab } from './lab.ts';

let lab: TrafficLab;
let ear: Ear;
let name: string;
let secure: string;

beforeAll(async () => {
  lab = await startTrafficLab();
  ear = await lab.hear([{ type: REQUESTS }]);
  name = await lab.tunnel();
  secure = newName('secure');
  await lab.session.httpEndpoint().domain(secure).listenAndForward(lab.upstream.url);
  await Promise.all([secrets(), bytes(), heads(), fails(), leaves(), overHttp2(), notes()]);
  await lab.settled([ear]);
}, 60_000);
afterAll(() => lab?.close());

/** Sends bytes over a connection of its own. @returns what comes back until it is closed. */
async function say(bytes: string | Buffer): Promise<string> {
  const socket = visitor();
  socket.write(bytes);
  let text = '';
  socket.setEncoding('latin1').on('data', (piece) => {
    text += piece;
  });
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

function visitor(): Socket {
  const [host, port] = lab.gateway.http.split(':');
  return connect(Number(port), host).on('error', () => {});
}

const head = (path: string, ...lines: string[]) =>
  [`GET ${path} HTTP/1.1`, `Host: ${name}`, 'Connection: close', ...lines, '', ''].join('\r\n');

/** Bytes of an answer: more than is on the way at once. */
const MUCH = 20_000_000;
const CANARY = 'canary-5f1c';
const spellings = [
  'Authorization',
  'AUTHORIZATION',
  'aUtHoRiZaTiOn',
  'Proxy-Authorization',
  'pROXY-aUTHORIZATION',
  'Cookie',
  'COOKIE',
  'Set-Cookie',
  'sET-cOOKIE',
];

async function secrets(): Promise<void> {
  const all = spellings.map((field, n) => `${field}: ${CANARY} ${n}`);
  await say(head('/secret/all', ...all));
  for (const [n, line] of all.entries()) await say(head(`/secret/${n}`, line));
  // More names than are kept ready, before and between.
  for (let n = 0; n < 8; n++) {
    const names = Array.from({ length: 180 }, (_, i) => `X-${n}-${i}: 1`);
    await say(
      head(`/secret/many/${n}`, ...names.slice(0, 90), all[n] as string, ...names.slice(90), all[8 - n] as string),
    );
  }
  await say(head(`http://user:${CANARY}@${name}/secret/userinfo`));
  await say(head('/secret/long', `X-${'a'.repeat(100)}: 1`, ...all));
}

const NON_ASCII = Buffer.from([0x80, 0x85, 0x9f, 0xa0, 0xff, 0xc3, 0xed, 0xa0, 0x80, 0xe2, 0x80, 0xa8]);
const PATH = '/bytes/"\\\\u0000\'<>`{|}^~%00%0a%ff%';

async function bytes(): Promise<void> {
  const value = Buffer.concat([Buffer.from('a\t"\\'), Buffer.from('日本'), NON_ASCII, Buffer.from('z')]).toString(
    'latin1',
  );
  const lines = [`X-Bytes: ${value}`, `User-Agent: ${value}`, 'constructor: 2', "!#$%&'*+-.^`|~: 3", 'X-Empty:'];
  await say(Buffer.from(head(`${PATH}?${PATH}`, ...lines), 'latin1'));
  await say(head('/bytes/escaped', 'x-lines: \\n\\r\\u2028'));
}

async function heads(): Promise<void> {
  await say(head('/head/wide', `X-Wide: ${'"'.repeat(31_000)}`));
  await say(head('/head/many', ...Array.from({ length: 190 }, (_, n) => `X-${n}: ${'é'.repeat(60)}`)));
  await say(head(`/head/${'a'.repeat(16_000)}`));
  await say(head('/head/too-wide', `X-Wide: ${'"'.repeat(33_000)}`));
}

let answers: string[];
async function fails(): Promise<void> {
  const offline = await httpName(lab.session, newName('gone')).listenAndForward('http://127.0.0.1:1');
  const refused = head('/refused').replace(name, new URL(String(offline.url())).hostname);
  const empty = await newEdge(lab.account, { labels: { app: 'nobody' } });
  await visitEdge(lab.gateway, empty, '/nobody');
  await say(head('/nowhere').replace(name, newName('nowhere')));
  answers = await Promise.all([say(head('/cut')), say(head('/silent')), say(head('/half')), say(refused)]);
}

/** Each is told of when it is gone. */
async function leaves(): Promise<void> {
  const { upstream } = lab;
  const before = visitor();
  const arrived = upstream.arrives('/silent/held');
  before.write(head('/silent/held'));
  await arrived;
  before.resetAndDestroy();
  const within = visitor();
  const inBody = upstream.arrives('/silent/within');
  within.write(`POST /silent/within HTTP/1.1\r\nHost: ${name}\r\nContent-Length: 10\r\n\r\n12345`);
  await inBody;
  within.resetAndDestroy();
  const reading = visitor();
  reading.write(head(`/bytes/${MUCH}`));
  await once(reading, 'readable');
  reading.resetAndDestroy();
  await Promise.all([before, within, reading].map((socket) => socket.closed || once(socket, 'close')));
}

async function overHttp2(): Promise<void> {
  const session = connectHttp2(`https://${lab.gateway.https}`, { ca: lab.gateway.ca, servername: secure });
  const headers = {
    ':authority': secure,
    authorization: CANARY,
    'proxy-authorization': CANARY,
    cookie: [`a=${CANARY}`, `b=${CANARY}`],
  };
  const asked = session.request({ ...headers, ':path': '/http2/secrets', 'x-bytes': 'é\xff' });
  await once(asked.resume(), 'close');
  const arrived = lab.upstream.arrives('/silent/http2');
  const silent = session.request({ ...headers, ':path': '/silent/http2' });
  silent.on('error', () => {});
  await arrived;
  silent.close(8);
  await once(silent, 'close');
  session.destroy();
}

/** A policy that makes megabytes of a request. */
async function notes(): Promise<void> {
  const all = `\${req.headers}`;
  const long = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`copy ${n}`, all]));
  const actions = [{ small: 1 }, { all }, long, { small: 2 }].map((metadata) => ({
    type: 'log',
    config: { metadata },
  }));
  const policy = JSON.stringify({ on_http_request: [{ actions }] });
  const noting = newName('noting');
  await httpName(lab.session, noting).trafficPolicy(policy).listenAndForward(lab.upstream.url);
  const wide = `X-Wide: ${'"'.repeat(10_000)}`;
  await say(head('/noted', wide).replace(name, noting));
}

const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4);
const about = async (path: string) => (await ear.about(path)).object.http;

describe('secrets', () => {
  test('are in nothing that was sent, however they are written', () => {
    const all = ear.texts.join();
    expect(all).not.toContain(CANARY);
    expect(all).not.toContain('top-secret');
    expect(all).toContain('***');
  });

  test('are told to be there, each', async () => {
    const { request, response } = await about('/secret/all');
    expect(request.headers).toMatchObject({
      authorization: ['***', '***', '***'],
      'proxy-authorization': ['***', '***'],
      cookie: ['***', '***'],
      'set-cookie': ['***', '***'],
    });
    expect(response.headers['set-cookie']).toEqual(['***']);
    for (const n of spellings.keys())
      expect((await about(`/secret/${n}`)).request.headers).toMatchObject({
        [spellings[n]?.toLowerCase() as string]: ['***'],
      });
    expect((await about('/http2/secrets')).request.headers).toMatchObject({
      authorization: ['***'],
      cookie: ['***', '***'],
    });
  });
});

describe('bytes beyond ASCII', () => {
  test('are one character each, and what JSON escapes is escaped', async () => {
    const { request } = await about(PATH);
    expect(request.url).toMatchObject({ path: PATH, query: PATH, raw: `http://${name}${PATH}?${PATH}` });
    const [value] = request.headers['x-bytes'];
    expect(Buffer.from(value, 'latin1').subarray(4, 10).toString()).toBe('日本');
    expect(value).toBe(request.user_agent);
    expect(Buffer.from(value, 'latin1').includes(NON_ASCII)).toBe(true);
    expect(request.headers).toMatchObject({ constructor: ['2'], "!#$%&'*+-.^`|~": ['3'], 'x-empty': [''] });
    expect((await about('/bytes/escaped')).request.headers['x-lines']).toEqual(['\\n\\r\\u2028']);
    expect((await about('/http2/secrets')).request.headers['x-bytes']).toEqual([expect.stringContaining('\xff')]);
  });
});

describe('large heads', () => {
  test('are told whole, up to what is let in', async () => {
    expect((await about('/head/wide')).request.headers['x-wide']).toEqual(['"'.repeat(31_000)]);
    expect(Object.keys((await about('/head/many')).request.headers).length).toBeGreaterThan(190);
    expect((await about(`/head/${'a'.repeat(16_000)}`)).response.status_code).toBe(200);
    expect(ear.texts.join()).not.toContain('too-wide');
  });
});

test('what policies note is told up to a length: an event stays one that targets take', async () => {
  const { traffic_policy: policy, http } = (await ear.about('/noted')).object;
  expect(policy.logs).toEqual([{ small: 1 }, { all: expect.objectContaining({ 'x-wide': ['"'.repeat(10_000)] }) }]);
  expect(http.response.status_code).toBe(200);
});

describe('what goes wrong', () => {
  test.each([
    ['/cut', 502],
    ['/silent', 504],
    ['/refused', 502],
  ])('at upstream: %s', async (path, status) => {
    const { response } = await about(path);
    expect(response.status_code).toBe(status);
    const bodies = answers.filter((answer) => answer.startsWith(`HTTP/1.1 ${status} `)).map(bodyOf);
    expect(bodies.map(({ length }) => length)).toContain(response.body_length);
  });

  test('at an edge whose backend nobody serves; a name that nobody has is no account’s', async () => {
    expect((await about('/nobody')).response.status_code).toBe(502);
    expect(ear.texts.join()).not.toContain('/nowhere');
  });

  test('in the middle of an answer: what was sent counts', async () => {
    expect((await about('/half')).response).toMatchObject({ status_code: 200, body_length: 4 });
  });

  test('at visitors: those that left before the answer have none', async () => {
    for (const path of ['/silent/held', '/silent/http2']) expect((await about(path)).response).toBeNull();
    expect(await about('/silent/within')).toMatchObject({ request: { body_length: 5 }, response: null });
    const { body_length } = (await about(`/bytes/${MUCH}`)).response;
    expect(body_length).toBeGreaterThan(0);
    expect(body_length).toBeLessThan(MUCH);
  });
});
