// Endpoints with a policy before an upstream of the test's own, on the gateway that the tests of a worker share.

import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { Protocol } from '../../../agent/src/gateway-client.ts';
import { newClient, PATIENT } from '../../agent/client/support.ts';
import { type Peer, visit as visitPort } from '../../edge/http1/support.ts';
import { newCredential } from '../../support/agents/live.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';

export interface HandledLab {
  gateway: TestGateway;
  account: Account;
  /** Opens a tunnel to a port of this machine. @returns the name that it has. */
  open(port: number, policy: object | null, options?: { protocol?: Protocol; domain?: string }): Promise<string>;
  /** A connection to the HTTP listener. */
  visitor(options?: { allowHalfOpen?: boolean }): Promise<Peer>;
  close(): Promise<void>;
}

/** Whoever starts it closes it. */
export async function startLab(): Promise<HandledLab> {
  const gateway = await sharedGateway();
  const account = await gateway.newAccount();
  const { authtoken } = await newCredential(account);
  const [host = '', port] = gateway.agent.split(':');
  const agent = newClient({ host, port: Number(port), ca: gateway.ca }, { authtoken }, PATIENT);
  return {
    gateway,
    account,
    async open(upstream, policy, { protocol = 'http', domain } = {}) {
      const handle = agent.open({
        protocol,
        domain: domain ?? null,
        policy: policy && JSON.stringify(policy),
        forwardsTo: `127.0.0.1:${upstream}`,
      });
      return new URL(await handle.answered).hostname;
    },
    visitor: (options) => visitPort(Number(gateway.http.split(':')[1]), options),
    close: () => agent.client.close(),
  };
}

/** A policy of one action for every request, or every answer. */
export const onRequest = (type: string, config: object = {}) => ({
  on_http_request: [{ actions: [{ type, config }] }],
});
export const onResponse = (type: string, config: object = {}) => ({
  on_http_response: [{ actions: [{ type, config }] }],
});

/** Asks for the body of every request, and lets all of them pass. */
export const readsBodies = onRequest('verify-webhook', { provider: 'github', secret: 'a secret', enforce: false });

/** The port of a URL. */
export const portOf = (url: string) => Number(new URL(url).port);

/** A session of HTTP/2 with a name. Ends with the test. */
export function http2Session({ https, ca }: TestGateway, name: string): ClientHttp2Session {
  const { hostname: host, port } = new URL(`https://${https}`);
  const socket = connectTls({ host, port: Number(port), ca, servername: name, ALPNProtocols: ['h2'] });
  const session = connectHttp2(`https://${https}`, { servername: name, createConnection: () => socket });
  session.on('error', () => {});
  onTestFinished(() => void socket.destroy()); // Not the session: see `cut` in edge/tls-support.
  return session;
}

/** All that comes of an answer over HTTP/2. */
export async function bodyOf(stream: ClientHttp2Stream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
