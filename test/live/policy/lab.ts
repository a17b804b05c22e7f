// Everything that a policy needs to be met on a real visit: a gateway, our own agent, an upstream that shows what it was
// asked, and visitors. It ends with the file, not with the test.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'vitest';
import type { Protocol, TunnelHandle } from '../../../agent/src/gateway-client.ts';
import { newClient, PATIENT } from '../../agent/client/support.ts';
import { type Asked, ORIGIN, type Origin, textOf } from '../../policy/documents/support.ts';
import { newCredential, reserve } from '../../support/agents/live.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { type Visit, type VisitOptions, visit } from '../../support/visit.ts';

export interface SeenRequest {
  method: string;
  target: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface ShowingUpstream {
  /** `127.0.0.1:…` */
  address: string;
  /** The next answers, except to a path that ends with `/never`; `ORIGIN` where it says nothing. */
  origin: Origin;
  /** What it was asked, in order; empty it to begin anew. */
  asked: SeenRequest[];
  /** How many connections it was sent. */
  connections: number;
  close(): void;
}

/** An upstream that answers as it is told, and keeps what it was asked. */
export async function startShowingUpstream(): Promise<ShowingUpstream> {
  const sockets = new Set<Socket>();
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url: target = '', headers } = request;
    upstream.asked.push({ method, target, headers, body: Buffer.concat(chunks).toString() });
    if (target.endsWith('/never')) return;
    const answer = { ...ORIGIN, ...upstream.origin };
    response.writeHead(answer.status, { ...answer.headers, 'content-length': Buffer.byteLength(answer.body) });
    response.end(answer.body);
  });
  server.on('connection', (socket: Socket) => {
    upstream.connections++;
    sockets.add(socket.on('error', () => {}));
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const upstream: ShowingUpstream = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    origin: {},
    asked: [],
    connections: 0,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return upstream;
}

/** What a visitor sees; undefined when the connection was closed without an answer. */
export type Seen = Visit | undefined;

export interface LabAgent {
  /** Opens a tunnel. @returns it once it is live; rejects with the gateway's refusal. */
  tunnel(protocol: Protocol, domain: string | null, policy: string | object | null): Promise<TunnelHandle>;
  /** Opens a tunnel that edges choose by its labels. */
  labelled(labels: Record<string, string>): Promise<TunnelHandle>;
  close(): Promise<void>;
}

/** Our own agent. @param upstream where its tunnels go, `host:port`. */
export function connectAgent({ agent, ca }: TestGateway, authtoken: string, upstream: string): LabAgent {
  const [host = '', port] = agent.split(':');
  const { client, open } = newClient({ host, port: Number(port), ca }, { authtoken }, PATIENT);
  const answered = async (handle: TunnelHandle) => {
    await handle.answered.catch(async (error) => {
      await handle.close();
      throw error;
    });
    return handle;
  };
  return {
    tunnel: (protocol, domain, policy) =>
      answered(open({ protocol, domain, policy: policy === null ? null : textOf(policy), forwardsTo: upstream })),
    labelled: (labels) => answered(client.open({ labels, forwardsTo: upstream, metadata: '' })),
    close: () => client.close(),
  };
}

export interface PolicyLab extends LabAgent {
  gateway: TestGateway;
  account: Account;
  upstream: ShowingUpstream;
  /** @param listener another than the one for the URL's scheme. */
  visit(url: string, options?: VisitOptions, listener?: string): Promise<Seen>;
}

/** @param gateway the one that files share, unless it is given. */
export async function startPolicyLab(gateway?: TestGateway): Promise<PolicyLab> {
  const used = gateway ?? (await sharedGateway());
  const account = await used.newAccount();
  const { authtoken } = await newCredential(account);
  const upstream = await startShowingUpstream();
  const agent = connectAgent(used, authtoken, upstream.address);
  return {
    ...agent,
    gateway: used,
    account,
    upstream,
    visit: (url, options, listener) => visitOf(used, url, options, listener),
    async close() {
      await agent.close();
      upstream.close();
    },
  };
}

/** Visits a public listener. */
export async function visitOf(
  { http, https, ca }: Pick<TestGateway, 'http' | 'https' | 'ca'>,
  url: string,
  options: VisitOptions = {},
  listener = url.startsWith('https:') ? https : http,
): Promise<Seen> {
  try {
    return await visit(url, listener, { ca, ...options });
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ECONNRESET' || code === 'EPIPE') return undefined;
    throw error;
  }
}

/** The same visit over HTTP/2; its answer as HTTP/1 would have it. */
export async function visitOverHttp2(
  { https, ca }: Pick<TestGateway, 'https' | 'ca'>,
  url: string,
  { method = 'GET', path, headers, body }: VisitOptions = {},
): Promise<Seen> {
  const { host, hostname, pathname } = new URL(url);
  const session = connectHttp2(`https://${https}`, { ca, servername: hostname });
  session.on('error', () => {});
  try {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const own = { ':method': method, ':path': path ?? pathname, ':authority': host, ...length };
    const stream = session.request({ ...own, ...headers }, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    const [{ ':status': status = 0, ...rest } = {}] = await Promise.race([
      once(stream, 'response'),
      once(stream, 'close'),
    ]);
    if (status === 0) return undefined;
    let text = '';
    for await (const chunk of stream.setEncoding('utf8')) text += chunk;
    return { status, headers: rest, body: text };
  } catch (error) {
    if (/^(?:ECONNRESET|EPIPE|ERR_HTTP2_.*)$/.test((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  } finally {
    session.destroy();
  }
}

/** An HTTPS edge with a route for everything, without a backend. @returns the route's path in the API. */
export async function newRoute(
  { account }: Pick<PolicyLab, 'account'>,
  host: string,
  labels?: object,
): Promise<string> {
  await reserve(account, host);
  const edge = await account.call('POST', '/edges/https', { hostports: [`${host}:443`] });
  expect(edge.status, edge.text).toBe(201);
  const backend = labels && (await account.call('POST', '/backends/tunnel_group', { labels }));
  const route = await account.call('POST', `/edges/https/${edge.body.id}/routes`, {
    match_type: 'path_prefix',
    match: '/',
    ...(backend && { backend: { backend_id: backend.body.id } }),
  });
  expect(route.status, route.text).toBe(201);
  return `/edges/https/${edge.body.id}/routes/${route.body.id}`;
}

/** The request that a document describes. */
export const described = ({ method, target = '/', headers, body }: Asked): VisitOptions => ({
  ...(method && { method }),
  ...(headers && { headers }),
  ...(body !== undefined && { body }),
  path: target,
});
