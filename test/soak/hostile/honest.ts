// Honest clients: visitors by each protocol, API clients of both doors, and agents that come and go. They have an
// address of their own, as people have who are not the attacker.

import { once } from 'node:events';
import { Agent as HttpAgent, request as overHttp, type RequestOptions } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { Agent as HttpsAgent, request as overHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { newClient } from '../../agent/client-support.ts';
import { ANSWER, HONEST_NAME, type Lab } from './lab.ts';
import { Samples } from './samples.ts';

const ADDRESS = '127.0.0.77';
/** Between two requests of one client. */
const PAUSE_MS = 25;
const AGENT_PAUSE_MS = 500;
/** Nobody waits longer. */
const PATIENCE_MS = 20_000;

export type Kind =
  | 'http'
  | 'https'
  | 'new connection'
  | 'http2'
  | 'upload'
  | 'REST'
  | 'GraphQL'
  | 'write'
  | 'new agent';

/** Works until it is stopped, and notes each wait. */
export class HonestClients {
  readonly samples = new Map<Kind, Samples>();
  #stopped = false;
  #loops: Promise<void>[] = [];
  #undo: (() => void)[] = [];

  start(lab: Lab): void {
    const { target, honest } = lab;
    const kept = { keepAlive: true, maxSockets: 1 };
    const [http, https, api] = [new HttpAgent(kept), new HttpsAgent(kept), new HttpAgent(kept)];
    this.#undo.push(() => [http, https, api].forEach((agent) => void agent.destroy()));
    const visit = { headers: { host: HONEST_NAME }, ...placeOf(target.http) };
    const tls = { headers: { host: HONEST_NAME }, ...placeOf(target.https), servername: HONEST_NAME, ca: target.ca };
    this.#loop('http', () => expectAnswer(overHttp, { ...visit, agent: http }));
    this.#loop('https', () => expectAnswer(overHttps, { ...tls, agent: https }));
    this.#loop('new connection', () => expectAnswer(overHttps, { ...tls, agent: false }), 100);
    this.#loop(
      'upload',
      () => expectAnswer(overHttp, { ...visit, agent: http, method: 'POST' }, Buffer.alloc(65_536)),
      100,
    );
    const h2 = new Http2Visitor(lab);
    this.#undo.push(() => h2.close());
    this.#loop('http2', () => h2.visit());

    const { hostname, port } = new URL(target.api);
    const client = { agent: api, host: hostname, port };
    const headers = {
      authorization: `Bearer ${honest.key}`,
      'service-version': '2',
      'content-type': 'application/json',
    };
    const list = { ...client, headers, path: '/credentials?limit=1' };
    this.#loop('REST', () => expectJson(list, undefined, 200, 'credentials'));
    const query = JSON.stringify({ query: '{ credentials(first: 1) { nodes { id } } }' });
    const graphql = { ...client, headers, path: '/graphql', method: 'POST' };
    this.#loop('GraphQL', () => expectJson(graphql, query, 200, '"nodes"'));
    let written = 0;
    const write = { ...client, headers, path: '/bot_users', method: 'POST' };
    this.#loop(
      'write',
      () => {
        const once = { ...write, headers: { ...headers, 'idempotency-key': `honest ${++written}` } };
        return expectJson(once, JSON.stringify({ name: `honest ${written}` }), 201, '"bot_');
      },
      250,
    );
    this.#loop('new agent', () => tunnelAnew(lab), AGENT_PAUSE_MS);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
    for (const step of this.#undo) step();
  }

  #loop(kind: Kind, work: () => Promise<void>, pause = PAUSE_MS): void {
    const samples = new Samples();
    this.samples.set(kind, samples);
    const run = async () => {
      while (!this.#stopped) {
        await samples.time(() => withinPatience(work()));
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    };
    this.#loops.push(run());
  }
}

function placeOf(listener: string): Pick<RequestOptions, 'host' | 'port' | 'localAddress'> {
  const [host = '', port] = listener.split(':');
  return { host, port, localAddress: ADDRESS };
}

async function withinPatience(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE_MS} ms`)), PATIENCE_MS);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function expectAnswer(over: typeof overHttp, options: RequestOptions, body?: Buffer): Promise<void> {
  const { status, received } = await exchange(over, options, body);
  if (status !== 200 || received !== ANSWER) throw new Error(`${status}: ${received.slice(0, 200)}`);
}

async function expectJson(
  options: RequestOptions,
  body: string | undefined,
  wanted: number,
  part: string,
): Promise<void> {
  const { status, received } = await exchange(overHttp, { ...options, localAddress: ADDRESS }, body);
  if (status !== wanted || !received.includes(part)) throw new Error(`${status}: ${received.slice(0, 200)}`);
}

/** Sends a request; once more where a kept connection ended while it was sent (RFC 9112, section 9.3.1). */
function exchange(
  over: typeof overHttp,
  options: RequestOptions,
  body?: string | Buffer,
): Promise<{ status: number; received: string }> {
  return new Promise((resolve, reject) => {
    const request = over(options, (response) => {
      text(response).then((received) => resolve({ status: response.statusCode ?? 0, received }), reject);
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (!request.reusedSocket || error.code !== 'ECONNRESET') reject(error);
      else exchange(over, { ...options, agent: false }, body).then(resolve, reject);
    });
    request.end(body);
  });
}

/** One connection that is kept; another when the gateway ended it. */
class Http2Visitor {
  readonly #lab: Lab;
  #session: ClientHttp2Session | undefined;

  constructor(lab: Lab) {
    this.#lab = lab;
  }

  async visit(): Promise<void> {
    this.#session ??= await this.#connect();
    const stream = this.#session.request({ ':path': '/', ':authority': HONEST_NAME });
    stream.end();
    const [headers] = await once(stream, 'response');
    const received = await text(stream);
    if (headers[':status'] !== 200 || received !== ANSWER) throw new Error(`${headers[':status']}: ${received}`);
  }

  close(): void {
    this.#session?.close();
  }

  async #connect(): Promise<ClientHttp2Session> {
    const { target } = this.#lab;
    const { host = '', port, localAddress } = placeOf(target.https);
    const options = { host, port: Number(port), localAddress, servername: HONEST_NAME, ca: target.ca };
    const socket = connectTls({ ...options, host, ALPNProtocols: ['h2'] } as never);
    await once(socket, 'secureConnect');
    const session = connectHttp2(`https://${HONEST_NAME}`, { createConnection: () => socket });
    session.on('error', () => {});
    session.once('close', () => {
      if (this.#session === session) this.#session = undefined;
    });
    return session;
  }
}

/** An agent comes, its URL answers, and it goes. */
async function tunnelAnew({ target, honest, originPort }: Lab): Promise<void> {
  const [host = '', port] = target.agent.split(':');
  const agent = newClient({ host, port: Number(port), ca: target.ca }, { authtoken: honest.authtoken });
  try {
    const url = await agent.open({ forwardsTo: `127.0.0.1:${originPort}` }).answered;
    const options = { ...placeOf(target.http), headers: { host: new URL(url).host }, agent: false as const };
    await expectAnswer(overHttp, options);
  } finally {
    await agent.client.close();
  }
}
