// Honest clients: visitors by each protocol, API clients of both doors, and agents that come and go. They have an
// address of their own, as people have who are not the attacker.

import { once } from 'node:events';
import { Agent as HttpAgent, request as overHttp, type RequestOptions } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { Agent as HttpsAgent, request as overHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { newClient, PATIENT } from '../../agent/client/support.ts';

/** The honest endpoint's name, below the base domain. */
export const HONEST_NAME = 'honest.tunnel.localhost';
/** What its origin answers. */
export const ANSWER = 'an honest answer\n';
const ADDRESS = '127.0.0.77';
/** Between two requests of one client. */
const PAUSE_MS = 25;
const AGENT_PAUSE_MS = 500;

/** Where the clients go to, and as whom. */
export interface HonestWorld {
  /** The API listener’s URL; host and port of the others; the certificate of the gateway’s authority. */
  target: { api: string; agent: string; http: string; https: string; ca: string };
  honest: { key: string; authtoken: string };
  /** What the tunnels of new agents lead to. */
  originPort: number;
}

/** Hears how each piece of work went. */
export interface Witness {
  /** Runs it; what it throws is noted, not thrown on. */
  time(work: () => Promise<void>): Promise<void>;
}

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
export class HonestClients<W extends Witness> {
  readonly samples = new Map<Kind, W>();
  /** Ids of what was written and acknowledged. */
  readonly acknowledged: string[] = [];
  readonly #newWitness: () => W;
  readonly #patienceMs: number;
  #stopped = false;
  #loops: Promise<void>[] = [];
  #undo: (() => void)[] = [];

  /** @param patienceMs nobody waits longer for an answer. */
  constructor(newWitness: () => W, patienceMs = 20_000) {
    this.#newWitness = newWitness;
    this.#patienceMs = patienceMs;
  }

  start(world: HonestWorld): void {
    const { target, honest } = world;
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
    const h2 = new Http2Visitor(world);
    this.#undo.push(() => h2.close());
    this.#loop('http2', () => h2.visit());

    const { hostname, port } = new URL(target.api);
    const client = { agent: api, host: hostname, port, localAddress: ADDRESS };
    const headers = {
      authorization: `Bearer ${honest.key}`,
      'service-version': '2',
      'content-type': 'application/json',
    };
    const list = { ...client, headers, path: '/credentials?limit=1' };
    this.#loop('REST', async () => void (await expectJson(list, undefined, 200, 'credentials')));
    const query = JSON.stringify({ query: '{ credentials(first: 1) { nodes { id } } }' });
    const graphql = { ...client, headers, path: '/graphql', method: 'POST' };
    this.#loop('GraphQL', async () => void (await expectJson(graphql, query, 200, '"nodes"')));
    let written = 0;
    const write = { ...client, headers, path: '/bot_users', method: 'POST' };
    this.#loop(
      'write',
      async () => {
        const once = { ...write, headers: { ...headers, 'idempotency-key': `honest ${++written}` } };
        const answer = await expectJson(once, JSON.stringify({ name: `honest ${written}` }), 201, '"bot_');
        this.acknowledged.push((JSON.parse(answer) as { id: string }).id);
      },
      250,
    );
    this.#loop('new agent', () => tunnelAnew(world), AGENT_PAUSE_MS);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
    for (const step of this.#undo) step();
  }

  #loop(kind: Kind, work: () => Promise<void>, pause = PAUSE_MS): void {
    const samples = this.#newWitness();
    this.samples.set(kind, samples);
    const run = async () => {
      while (!this.#stopped) {
        await samples.time(() => within(this.#patienceMs, work()));
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

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
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
): Promise<string> {
  const { status, received } = await exchange(overHttp, { ...options, localAddress: ADDRESS }, body);
  if (status !== wanted || !received.includes(part)) throw new Error(`${status}: ${received.slice(0, 200)}`);
  return received;
}

/** Connections that have carried a response. Node marks only requests that found one idle, not those that waited for it. */
const usedSockets = new WeakSet<object>();

/** Sends a request; once more where a kept connection ended while it was sent (RFC 9112, section 9.3.1). */
function exchange(
  over: typeof overHttp,
  options: RequestOptions,
  body?: string | Buffer,
): Promise<{ status: number; received: string }> {
  return new Promise((resolve, reject) => {
    const request = over(options, (response) => {
      usedSockets.add(response.socket);
      text(response).then((received) => resolve({ status: response.statusCode ?? 0, received }), reject);
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isReused = request.socket !== null && usedSockets.has(request.socket);
      if (!isReused || error.code !== 'ECONNRESET') reject(error);
      else exchange(over, { ...options, agent: false }, body).then(resolve, reject);
    });
    request.end(body);
  });
}

/** One connection that is kept; another when the gateway ended it. */
class Http2Visitor {
  readonly #world: HonestWorld;
  #session: ClientHttp2Session | undefined;

  constructor(world: HonestWorld) {
    this.#world = world;
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
    const { target } = this.#world;
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
async function tunnelAnew({ target, honest, originPort }: HonestWorld): Promise<void> {
  const [host = '', port] = target.agent.split(':');
  const agent = newClient({ host, port: Number(port), ca: target.ca }, { authtoken: honest.authtoken }, PATIENT);
  try {
    const url = await agent.open({ forwardsTo: `127.0.0.1:${originPort}` }).answered;
    const options = { ...placeOf(target.http), headers: { host: new URL(url).host }, agent: false as const };
    await expectAnswer(overHttp, options);
  } finally {
    await agent.client.close();
  }
}
