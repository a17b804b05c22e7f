// Visitors of a client's tunnels, and what those forward to.

import type { Server, Socket } from 'node:net';
import type { TunnelHandle } from '../../../agent/src/gateway-client.ts';
import { type ErrorCode, type MuxStream, noopStreamEvents } from '../../../src/protocol/index.ts';
import { collect } from '../../protocol/pair.ts';
import { type Peer, type PeerSession, startPeer, startServer } from './peer.ts';
import { newClient, type TestClient } from './support.ts';

export interface TestTunnel {
  tunnel: TunnelHandle;
  id: string;
  /** A visitor who collects everything that comes until the end. */
  visit(first?: string): { stream: MuxStream; all: Promise<Buffer> };
}

export interface Forwarding {
  peer: Peer;
  agent: TestClient;
  session: PeerSession;
  /** What the agent is told of where it may go; loopback unless it is set. */
  addresses: (host: string, port: number) => Promise<string[]>;
  /** Closed with the rest. */
  servers: Server[];
  /** Listens, and hands over each connection. @returns the port. */
  upstream(onConnection: (socket: Socket) => void): Promise<number>;
  tunnelTo(forwardsTo: string): Promise<TestTunnel>;
  close(): Promise<void>;
}

/** Every place is on this machine. */
export const loopback = async () => ['127.0.0.1'];

/** A client on a session. @param upstreamMs how long an upstream may take to accept. */
export async function startForwarding(upstreamMs = 10_000): Promise<Forwarding> {
  const peer = await startPeer();
  const servers: Server[] = [];
  const agent = newClient(
    peer,
    { addresses: (...place) => forwarding.addresses(...place) },
    { heartbeatTolerance: 10_000, upstream: upstreamMs },
  );
  const session = await peer.session();
  const forwarding: Forwarding = {
    peer,
    agent,
    session,
    servers,
    addresses: loopback,
    async upstream(onConnection) {
      const { port, server } = await startServer(onConnection);
      servers.push(server);
      return port;
    },
    async tunnelTo(forwardsTo) {
      const tunnel = agent.open({ protocol: 'tcp', forwardsTo });
      await tunnel.answered;
      const id = tunnel.resumption?.tunnelId ?? '';
      const visit = (first = '') => {
        const stream = session.visit(id, noopStreamEvents, Buffer.from(first));
        const { events, all } = collect(stream);
        stream.events = events;
        return { stream, all };
      };
      return { tunnel, id, visit };
    },
    async close() {
      await agent.client.close();
      await peer.close();
      for (const server of servers) server.close();
    },
  };
  return forwarding;
}

/** How the stream that is opened is broken. */
export const resetOf = (open: (events: typeof noopStreamEvents) => MuxStream) =>
  new Promise<ErrorCode>((resolve) => open({ ...noopStreamEvents, onReset: resolve }));
