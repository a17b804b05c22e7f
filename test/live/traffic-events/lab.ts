// Traffic events through the whole gateway: who hears of them, and an upstream behind tunnels of the SDK that fails in as many
// ways as there are. The gateway is one for all files of a worker; the rest ends with the file.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect } from 'vitest';
import { WebSocketServer } from 'ws';
import { newCredential } from '../../support/agents/live.ts';
import { httpName, openSdkSession, type SdkSession } from '../../support/agents/sdk.ts';
import { eventually } from '../../support/eventually.ts';
import { type Account, type Owner, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { done, newName } from '../edges/support.ts';

/** An event as it was received. */
export interface Received {
  event_id: string;
  event_type: string;
  event_timestamp: string;
  account_id: string;
  principal: null;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
  object: any;
}

/** A destination, and what it received. */
export interface Ear {
  destinationId: string;
  /** That of the subscription in the API. */
  at: string;
  /** In order. */
  readonly events: Received[];
  /** Each request as it came. */
  readonly texts: string[];
  /** Resolves when so many events have come, since the last call, and takes them. */
  next(count: number): Promise<Received[]>;
  /** The event of the request for a path, once it has come. */
  about(path: string): Promise<Received>;
}

export interface Receiver {
  server: Server;
  /** Makes a destination and a subscription to these sources, with one destination more, perhaps. */
  hear(owner: Caller, sources: object[]): Promise<Ear>;
  close(): void;
}

type Caller = Pick<Owner, 'call'>;

/** Longer than a batch is collected, and the machine may be busy. */
const PATIENT = { timeout: 15_000, interval: 20 };
const SECRET = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cywgMzIgYnl0ZXM=';

/** Settings of a gateway whose destinations may be on this machine. */
export const HEARD_HERE = { EVENT_WEBHOOK_HOSTS: '127.0.0.1/32' };

let shared: Promise<TestGateway> | undefined;

/** One for the files of a worker, as `sharedGateway`, whose upstreams have five seconds to answer. */
export function trafficGateway(): Promise<TestGateway> {
  shared ??= startTestGateway({ ...HEARD_HERE, UPSTREAM_TIMEOUT_MS: '5000' });
  return shared;
}

/** A receiver of webhooks, for any number of destinations: what it gets has to be valid UTF-8 and JSON. */
export async function startReceiver(): Promise<Receiver> {
  const ears = new Map<string, Ear>();
  let count = 0;
  const server = createServer(async (request, response) => {
    const ear = ears.get(request.url ?? '');
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await buffer(request));
    ear?.texts.push(text);
    ear?.events.push(...(JSON.parse(text) as Received[]));
    response.writeHead(204).end();
  });
  const { port, close } = await listening(server);
  return {
    server,
    async hear(owner, sources) {
      const path = `/${++count}`;
      const target = { webhook: { url: `http://127.0.0.1:${port}${path}`, signing_secret: SECRET } };
      const { id } = await done(owner, 'POST', '/event_destinations', { format: 'json', target });
      const ear = newEar(id);
      ears.set(path, ear);
      const made = await done(owner, 'POST', '/event_subscriptions', { sources, destination_ids: [id] });
      ear.at = `/event_subscriptions/${made.id}`;
      return ear;
    },
    close,
  };
}

function newEar(destinationId: string): Ear {
  const events: Received[] = [];
  let taken = 0;
  return {
    destinationId,
    at: '',
    events,
    texts: [],
    async next(count) {
      await eventually(() => expect(events.length).toBeGreaterThanOrEqual(taken + count), PATIENT);
      const some = events.slice(taken);
      taken = events.length;
      return some;
    },
    about: (path) =>
      eventually(() => {
        const event = events.find(({ object }) => object.http?.request?.url?.path === path);
        if (!event) throw new Error(`nobody told of ${path}`);
        return event;
      }, PATIENT),
  };
}

export interface TrafficUpstream {
  url: string;
  /** Resolves when it is asked for a path, of which the head has come. */
  arrives(path: string): Promise<unknown>;
  close(): void;
}

/**
 * Answers HTTP: `/status/<n>` with that status, `/bytes/<n>` with so many bytes that can be compressed, `/silent…` never,
 * `/cut` by hanging up, `/half` by doing so in the middle of the body; a WebSocket by what it says.
 */
export async function startTrafficUpstream(): Promise<TrafficUpstream> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => void answer(request, response));
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (ws) =>
      ws.on('message', (data, isBinary) => ws.send(data, { binary: isBinary })),
    ),
  );
  const { port, close } = await listening(server);
  const upstream: TrafficUpstream = {
    url: `http://127.0.0.1:${port}`,
    arrives: (path) => once(server, `asked ${path}`),
    close,
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '' } = request;
    server.emit(`asked ${url}`);
    if (url === '/cut') return void request.socket.destroy();
    if (url.startsWith('/silent')) return;
    await buffer(request).catch(() => {});
    const [, what, number] = /^\/(status|bytes)\/(\d+)/.exec(url) ?? [];
    response.writeHead(what === 'status' ? Number(number) : 200, {
      'Content-Type': 'text/plain',
      'Set-Cookie': 'session=top-secret; Path=/',
    });
    if (url !== '/half') return void response.end('x'.repeat(what === 'bytes' ? Number(number) : 2));
    response.write('half', () => request.socket.destroy());
  }
  return upstream;
}

/** Says what it hears, over TCP. */
export async function startEcho(): Promise<{ url: string; close(): void }> {
  const { port, close } = await listening(createTcpServer((socket) => socket.on('error', () => {}).pipe(socket)));
  return { url: `tcp://127.0.0.1:${port}`, close };
}

async function listening(server: Server): Promise<{ port: number; close(): void }> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket.on('error', () => {}));
    socket.on('close', () => open.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

export interface TrafficLab {
  gateway: TestGateway;
  account: Account;
  session: SdkSession;
  upstream: TrafficUpstream;
  echo: { url: string };
  hear(sources: object[], owner?: Caller): Promise<Ear>;
  /** A tunnel for plain HTTP before the upstream. @returns its name. */
  tunnel(): Promise<string>;
  /** Resolves when nothing waits that destinations are to receive: what they have then is all of it. */
  settled(ears: Ear[], owner?: Caller): Promise<void>;
  close(): Promise<void>;
}

/** Everything there is for one file, in an account of its own. @param used the one that files share, unless it is given. */
export async function startTrafficLab(used?: TestGateway): Promise<TrafficLab> {
  const gateway = used ?? (await trafficGateway());
  const account = await gateway.newAccount();
  const { session, close } = await openSdkSession(gateway, (await newCredential(account)).authtoken);
  const [receiver, upstream, echo] = [await startReceiver(), await startTrafficUpstream(), await startEcho()];
  return {
    gateway,
    account,
    session,
    upstream,
    echo,
    hear: (sources, owner = account) => receiver.hear(owner, sources),
    async tunnel() {
      const name = newName('traffic');
      await httpName(session, name).listenAndForward(upstream.url);
      return name;
    },
    async settled(ears, owner = account) {
      await eventually(async () => expect(await metricOf(gateway, 'traffic_events_waiting')).toBe(0), PATIENT);
      const delivery = ({ destinationId }: Ear) => done(owner, 'GET', `/event_destinations/${destinationId}/delivery`);
      for (const ear of ears)
        await eventually(async () => expect((await delivery(ear)).waiting_events).toBe(0), PATIENT);
    },
    async close() {
      await close();
      for (const each of [receiver, upstream, echo]) each.close();
    },
  };
}

/** A metric, with its labels as they are written. */
export async function metricOf({ admin }: Pick<TestGateway, 'admin'>, name: string): Promise<number> {
  const lines = (await (await fetch(`${admin}/metrics`)).text()).split('\n');
  return Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1]);
}

export const REQUESTS = 'http_request_complete.v0';
export const CONNECTIONS = 'tcp_connection_closed.v0';
