// Several gateways on one database that forward visitors to each other, each on an address of its own, as on machines of their own.

import { createServer, type RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';
import type { Protocol } from '../../agent/src/gateway-client.ts';
import { listen } from '../agent/client/peer.ts';
import { newClient, PATIENT, type TestClient } from '../agent/client/support.ts';
import { newCredential } from '../support/agents/live.ts';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { newPlace, type Place } from '../support/gateway/place.ts';

export interface Cluster {
  place: Place;
  gateways: TestGateway[];
  /** An account, by the API of the first gateway. */
  account: Account;
  close(): Promise<void>;
}

/** The environment of a node. @param index from 0: which address of this machine is its own. */
export const nodeEnvironment = (index: number): Record<string, string> => ({
  HOST: `127.0.1.${index + 1}`,
  NODE_ADDR: `127.0.1.${index + 1}`,
  NODE_PORT: '0',
  ALLOWED_HOSTS: `127.0.1.${index + 1}`,
});

/** Starts gateways that share a database, and the authority that visitors and agents trust. They remove the place. */
export async function startCluster(
  count: number,
  overrides: Record<string, string> = {},
  givenPlace?: Place,
): Promise<Cluster> {
  const place = givenPlace ?? (await newPlace());
  const gateways: TestGateway[] = [];
  try {
    for (let index = 0; index < count; index++)
      gateways.push(await startTestGateway({ ...nodeEnvironment(index), ...overrides }, { place }));
    const [first] = gateways as [TestGateway];
    return {
      place,
      gateways,
      account: await first.newAccount(),
      async close() {
        await Promise.all(gateways.map((gateway) => gateway.close()));
        await place.remove();
      },
    };
  } catch (error) {
    await Promise.all(gateways.map((gateway) => gateway.close()));
    await place.remove();
    throw error;
  }
}

/** An agent at a gateway. It ends with the test. */
export async function agentAt(gateway: TestGateway, account: Account, credential: object = {}): Promise<TestClient> {
  const { authtoken } = await newCredential(account, credential);
  const [host = '', port] = gateway.agent.split(':');
  const agent = newClient({ host, port: Number(port), ca: gateway.ca }, { authtoken }, PATIENT);
  onTestFinished(() => agent.client.close());
  return agent;
}

export interface ServeOptions {
  protocol?: Protocol;
  domain?: string;
  policy?: object;
  upstreamProtocol?: 'http1' | 'http2';
}

/** Serves a port of this machine by an agent. @returns the URL of the tunnel. */
export async function serve(
  agent: TestClient,
  port: number,
  { protocol = 'http', domain, policy, upstreamProtocol }: ServeOptions = {},
): Promise<string> {
  const handle = agent.open({
    protocol,
    domain: domain ?? null,
    policy: policy ? JSON.stringify(policy) : null,
    forwardsTo: `127.0.0.1:${port}`,
    upstreamProtocol,
  });
  return handle.answered;
}

/** An HTTP service of this machine. It ends with the test. @returns its port. */
export async function service(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return listen(server);
}

/** A service that answers with its name, and with what it was asked. */
export const named = (name: string) =>
  service((request, response) => {
    response.setHeader('x-forwarded', `${request.headers['x-forwarded-for']} ${request.headers['x-forwarded-proto']}`);
    response.end(`${name} ${request.headers.host} ${request.url}`);
  });
