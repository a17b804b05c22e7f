// A load balancer of TCP: it hands connections on, from an address of its own, and says in a header of the PROXY protocol
// who they are from.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { proxyProtocolHeader } from '../../src/tunnel/network/proxy-protocol.ts';

/** Who a connection is from, and where it came to. */
export interface Client {
  ip: string;
  port: number;
  local: { ip: string; port: number };
}

export interface BalancerOptions {
  /** Its own address towards the target. */
  from: string;
  /** What it writes first; a header of this version, or what is made of the client; nothing for 0. */
  header: 0 | 1 | 2 | ((client: Client) => Buffer);
}

export interface Balancer {
  /** `127.0.0.1:…` */
  address: string;
  port: number;
  close(): void;
}

/** @param target `host:port`. Listens on a free port of 127.0.0.1, and ends with whoever closes it. */
export async function startBalancer(target: string, { from, header }: BalancerOptions): Promise<Balancer> {
  const [host = '', targetPort] = target.split(':');
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    const far = connect({ host, port: Number(targetPort), localAddress: from, allowHalfOpen: true, noDelay: true });
    const first = headerOf(header, {
      ip: near.remoteAddress ?? '',
      port: near.remotePort ?? 0,
      local: { ip: near.localAddress ?? '', port: near.localPort ?? 0 },
    });
    if (first.length > 0) far.write(first);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.on('error', () => {}).pipe(other);
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    port,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

function headerOf(header: BalancerOptions['header'], client: Client): Buffer {
  if (typeof header === 'function') return header(client);
  return header === 0 ? Buffer.alloc(0) : proxyProtocolHeader(header, client, client.local.port, client.local.ip);
}
