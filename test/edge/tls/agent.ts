// An agent for tests of the edge: a real session, with a stream to an upstream on this machine for each visitor.

import { connect, type Socket } from 'node:net';
import {
  type MuxSession,
  type MuxStream,
  noopStreamEvents,
  OWN_CLIENT_TYPE,
  type ProxyHeader,
  readProxyHeader,
  readStreamType,
  StreamType,
} from '../../../src/protocol/index.ts';
import { relay } from '../../../src/protocol/relay.ts';
import { agentKindOf } from '../../../src/tunnel/control/compatibility.ts';
import type { LiveEndpoint } from '../../../src/tunnel/endpoints/endpoint.ts';
import { LiveTunnel } from '../../../src/tunnel/endpoints/live-tunnel.ts';
import { StreamSlots } from '../../../src/tunnel/endpoints/stream-slots.ts';
import { pair } from '../../protocol/pair.ts';

export type TunnelOptions = Partial<
  Pick<LiveEndpoint, 'proto' | 'tls' | 'upstreamProtocol' | 'proxyProtocol' | 'port'>
>;

export interface Agent {
  /** The gateway's end of the session. */
  session: MuxSession;
  /** Headers of the streams that were opened to the agent, in order. */
  headers: ProxyHeader[];
  /** Connections to upstreams, as they were opened. */
  sockets: Socket[];
  tunnel(hostname: string, upstream: number, options?: TunnelOptions): LiveTunnel;
}

/** An agent's session, with everything that an agent needs to serve visitors. */
export async function startAgent(): Promise<Agent> {
  const { client, server } = await pair();
  const slots = new StreamSlots(agentKindOf({ clientType: OWN_CLIENT_TYPE, userAgent: '' }));
  const upstreams = new Map<string, number>();
  const headers: ProxyHeader[] = [];
  const sockets: Socket[] = [];
  client.accept((stream) => {
    readStreamType(stream, (type, rest) => {
      if (type !== StreamType.PROXY) return stream.reset();
      readHeader(stream, rest, (header, first) => {
        headers.push(header);
        const port = upstreams.get(header.tunnelId) ?? 0;
        const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
        sockets.push(socket);
        if (first.length > 0) socket.write(first);
        stream.consumed(first.length);
        relay(stream, socket);
      });
    });
    return stream.events;
  });
  let ids = 0;
  return {
    session: server.session,
    headers,
    sockets,
    tunnel(hostname, upstream, options = {}) {
      const tunnelId = `tn_${++ids}`;
      upstreams.set(tunnelId, upstream);
      return new LiveTunnel(
        {
          id: `ep_${ids}`,
          tunnelId,
          accountId: 'ac_1',
          proto: 'https',
          hostname,
          port: 443,
          publicUrl: `https://${hostname}`,
          proxyProtocol: 0,
          upstreamProtocol: 'http1',
          tls: 'gateway',
          ...options,
        },
        server.session,
        slots,
      );
    },
  };
}

function readHeader(stream: MuxStream, first: Buffer, onHeader: (header: ProxyHeader, rest: Buffer) => void): void {
  let bytes = first;
  const tryRead = () => {
    const found = readProxyHeader(bytes);
    if (!found) return;
    stream.events = noopStreamEvents;
    stream.consumed(bytes.length - found.rest.length);
    onHeader(found.header, found.rest);
  };
  stream.events = {
    ...noopStreamEvents,
    onData(chunk) {
      bytes = Buffer.concat([bytes, chunk]);
      tryRead();
    },
  };
  tryRead();
}
