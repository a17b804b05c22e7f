// What the attacks over HTTP/2 share: a tenant's service behind a real agent, and connections that are broken at will.

import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as later } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createClient } from '../../../agent/src/client/index.ts';
import type { Target } from './attack.ts';

/** Serves a name (https) by the tenant's agent. @param onRequest is told of each piece that comes on a connection. */
export async function serveByTenant(
  target: Target,
  name: string,
  onRequest: (socket: Socket, text: string) => void,
): Promise<{ host: string; close(): Promise<void> }> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).on('data', (chunk) => onRequest(socket, chunk.toString('latin1')));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const [host = '', port] = target.agent.split(':');
  const client = createClient({
    authtoken: target.tenant.authtoken,
    gateways: [{ host, port: Number(port) }],
    legs: 1,
    ca: target.ca,
    identity: null,
    metadata: '',
    self: { deviceId: '', name: '', labels: {} },
    addresses: async () => [host],
    commands: { stop: () => null, restart: () => null, update: () => null },
    onChange() {},
    onIdentity() {},
    log() {},
  });
  const domain = `${name}-${process.pid}.${target.baseDomain}`;
  const forwardsTo = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  await client.open({ protocol: 'https', domain, forwardsTo, metadata: '', policy: null, resume: null }).answered;
  return {
    host: domain,
    async close() {
      await client.close();
      server.close();
    },
  };
}

/** TLS to the HTTPS listener, on which HTTP/2 was agreed. @throws when there is no place. */
export async function dial(target: Target, servername: string): Promise<TLSSocket> {
  const [host, port] = target.https.split(':');
  const socket = connectTls({ host, port: Number(port), ca: target.ca, servername, ALPNProtocols: ['h2'] });
  const failed = new Promise<never>((_, reject) => void socket.on('error', reject));
  failed.catch(() => {});
  await Promise.race([once(socket, 'secureConnect'), failed]);
  return socket;
}

/** A visitor of HTTP/2, with the socket to break it off by. */
export async function visitor(
  target: Target,
  servername: string,
  initialWindowSize: number,
): Promise<{ session: ClientHttp2Session; socket: TLSSocket }> {
  const socket = await dial(target, servername);
  const session = connectHttp2(`https://${servername}`, {
    createConnection: () => socket,
    settings: { initialWindowSize },
  });
  session.on('error', () => {});
  await once(session, 'connect');
  return { session, socket };
}

/** Waits so long, or until the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await later(ms, undefined, { signal }).catch(() => {});
}
