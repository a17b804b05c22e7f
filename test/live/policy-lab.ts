// Everything that a policy needs to be met on a real visit: a gateway, our own agent, an upstream that shows what it was
// asked, and visitors. It ends with the file, not with the test.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Protocol, TunnelHandle } from '../../agent/src/gateway-client.ts';
import { newClient } from '../agent/client-support.ts';
import { type Asked, ORIGIN, type Origin, textOf } from '../policy/documents-support.ts';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { newCredential } from '../support/live.ts';
import type { Place } from '../support/place.ts';
import { type Visit, type VisitOptions, visit } from '../support/visit.ts';

export interface SeenRequest {
  method: string;
  target: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface ShowingUpstream {
  /** `127.0.0.1:…` */
  address: string;
  /** The next answers; `ORIGIN` where it says nothing. */
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

export interface PolicyLab {
  gateway: TestGateway;
  account: Account;
  upstream: ShowingUpstream;
  /** Opens a tunnel to the upstream. @returns it once it is live; rejects with the gateway's refusal. */
  tunnel(protocol: Protocol, domain: string | null, policy: string | object | null): Promise<TunnelHandle>;
  /** Opens a tunnel that edges may choose by this label. */
  visit(url: string, options?: VisitOptions): Promise<Seen>;
  close(): Promise<void>;
}

/** @param place data that outlives the lab, for a second one. */
export async function startPolicyLab(place?: Place): Promise<PolicyLab> {
  const gateway = await startTestGateway({}, place ? { place } : {});
  const account = await gateway.newAccount();
  const { authtoken } = await newCredential(account);
  const [host = '', port] = gateway.agent.split(':');
  const agent = newClient({ host, port: Number(port), ca: gateway.ca }, { authtoken });
  const upstream = await startShowingUpstream();
  return {
    gateway,
    account,
    upstream,
    async tunnel(protocol, domain, policy) {
      const handle = agent.open({
        protocol,
        domain,
        policy: policy === null ? null : textOf(policy),
        forwardsTo: upstream.address,
      });
      await handle.answered.catch(async (error) => {
        await handle.close();
        throw error;
      });
      return handle;
    },
    visit: (url, options) => visitOf(gateway, url, options),
    async close() {
      await agent.client.close();
      upstream.close();
      await gateway.close();
    },
  };
}

/** Visits a public listener. */
export async function visitOf(
  { http, https, ca }: Pick<TestGateway, 'http' | 'https' | 'ca'>,
  url: string,
  options: VisitOptions = {},
): Promise<Seen> {
  try {
    return await visit(url, url.startsWith('https:') ? https : http, { ca, ...options });
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ECONNRESET' || code === 'EPIPE') return undefined;
    throw error;
  }
}

/** The request that a document describes. */
export const described = ({ method, target = '/', headers, body }: Asked): VisitOptions => ({
  ...(method && { method }),
  ...(headers && { headers }),
  ...(body !== undefined && { body }),
  path: target,
});
