// The HTTP listener with an agent behind it, visitors before it and upstreams behind both, on real sockets.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { createHttpListener } from '../../../src/edge/http1/listener.ts';
import { createHttpCounters } from '../../../src/edge/metrics/counters.ts';
import type { ListenerContext } from '../../../src/edge/pipeline/listener-context.ts';
import type { EndpointRules, HttpRoute } from '../../../src/edge/pipeline/rules/endpoint-rules.ts';
import { ModuleChain } from '../../../src/edge/pipeline/rules/module-chain.ts';
import type { EdgeSettings } from '../../../src/edge/settings.ts';
import { ConnectionLimit } from '../../../src/edge/visitors/connection-limit.ts';
import type { HttpModule } from '../../../src/http/module.ts';
import type { LiveEndpoint, OpenFailure } from '../../../src/tunnel/endpoints/endpoint.ts';
import type { NameStatus } from '../../../src/tunnel/endpoints/endpoint-lookup.ts';
import type { LiveTunnel } from '../../../src/tunnel/endpoints/live-tunnel.ts';
import { loopClock } from '../../support/load/loop-clock.ts';
import { listen } from '../sockets.ts';
import { startAgent } from '../tls/agent.ts';
import { noVisits } from '../tls/support.ts';

export interface TestEndpoint extends LiveEndpoint {
  /** How many streams were asked for. */
  opened: number;
  /** When set, no stream is opened. */
  failure: OpenFailure | undefined;
  /** When set, what a stream waits for before it is opened. */
  gate: Promise<void> | undefined;
  sharesConnections: boolean;
  /** Resolves when the first stream is asked for. */
  readonly asked: Promise<void>;
  /** It is gone. */
  close(): void;
}

/** Gives visitors of an endpoint who have ended their side what they asked for, as the action `allow-half-close` does. */
export function allowHalfClose<T extends LiveEndpoint>(endpoint: T): T {
  const module: HttpModule = {
    name: 'half_close',
    onRequest({ upstreamTerms }) {
      if (upstreamTerms) upstreamTerms.allowsHalfClose = true;
      return undefined;
    },
  };
  return Object.assign(endpoint, moduleRules([module]));
}

/** What gives an endpoint modules. */
export function moduleRules(modules: HttpModule[]): { rules: EndpointRules } {
  const chain = new ModuleChain(modules);
  const route: HttpRoute = { chain, convertsWebsockets: false, upstream: (found) => found };
  return { rules: { connection: [], tls: undefined, route: () => route } };
}

/** An agent's tunnel, with doors that tests may shut. */
function testEndpoint(tunnel: LiveTunnel): TestEndpoint {
  let tell = () => {};
  const asked = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const { id, tunnelId, accountId, proto, hostname, port, publicUrl, proxyProtocol, upstreamProtocol, tls } = tunnel;
  return {
    ...{ id, tunnelId, accountId, proto, hostname, port, publicUrl, proxyProtocol, upstreamProtocol, tls },
    get isOpen() {
      return tunnel.isOpen;
    },
    opened: 0,
    failure: undefined,
    gate: undefined,
    sharesConnections: false,
    asked,
    close: () => tunnel.close(),
    async open(visitor, events) {
      this.opened++;
      tell();
      if (this.gate) await this.gate;
      return this.failure ?? tunnel.open(visitor, events);
    },
  };
}

/** Short enough for tests that wait for them, long enough for those that don't. */
const SETTINGS: EdgeSettings = {
  upstreamTimeout: 5000,
  upstreamTimeoutMax: 3_600_000,
  headTimeout: 5000,
  stallTimeout: 5000,
  idleTimeout: 5000,
  maxVisitors: 1000,
  maxVisitorsPerAddress: 0,
  requestLogBytes: 0,
  sharedDomains: ['tunnel.localhost'],
  tlsDir: undefined,
  policyFetch: 'public',
};

export interface EdgeOptions {
  settings?: Partial<EdgeSettings>;
  /** What names are of which nothing is live here. */
  whereabouts?: Record<string, NameStatus>;
  context?: Partial<ListenerContext>;
}

export type Edge = Awaited<ReturnType<typeof startEdge>>;

/** The HTTP listener; ends with the test, or the file when it was started by a hook. */
export async function startEdge({ settings, whereabouts = {}, context }: EdgeOptions = {}) {
  const agent = await startAgent();
  const endpoints = new Map<string, TestEndpoint>();
  const counters = createHttpCounters();
  const limit = new ConnectionLimit(settings?.maxVisitors ?? SETTINGS.maxVisitors, settings?.maxVisitorsPerAddress);
  const listener = createHttpListener(
    {
      scheme: 'http',
      find: (hostname) => (hostname === 'misdirected.test' ? 'misdirected' : endpoints.get(hostname)),
      resolve: async (hostname) => whereabouts[hostname] ?? 'unknown',
      settings: { ...SETTINGS, ...settings },
      now: loopClock(),
      services: noVisits,
      counters,
      ...context,
    },
    limit,
  );
  const port = await listen(listener.server);
  return {
    port,
    counters,
    limit,
    listener,
    agent,
    endpoints,
    /** Makes the upstream at a port available under a name. */
    serve(hostname: string, upstreamPort: number): TestEndpoint {
      const endpoint = testEndpoint(agent.tunnel(hostname, upstreamPort, { proto: 'http', port: 80 }));
      endpoints.set(hostname, endpoint);
      return endpoint;
    },
    async close(drainMs = 0): Promise<void> {
      await listener.close(drainMs);
      agent.session.destroy(0, 'the end');
    },
  };
}

/** A server of which the test says byte for byte what it answers. Ends with the test. */
export async function startUpstream(onPeer: (peer: Peer) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    onPeer(new Peer(socket));
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return listen(server);
}

/** The connections to a server of the test's own, in the order in which they come. */
export async function startScript(): Promise<{ port: number; next(): Promise<Peer> }> {
  const peers: Peer[] = [];
  const waiting: ((peer: Peer) => void)[] = [];
  const port = await startUpstream((peer) => {
    const taker = waiting.shift();
    if (taker) taker(peer);
    else peers.push(peer);
  });
  return {
    port,
    next: () => {
      const peer = peers.shift();
      return peer ? Promise.resolve(peer) : new Promise((resolve) => waiting.push(resolve));
    },
  };
}

/** One side of a connection: sends bytes and looks at bytes. */
export class Peer {
  readonly socket: Socket;
  received = Buffer.alloc(0);
  /** Resolves, when the connection is closed, with how the other side ended it. */
  readonly closed: Promise<'end' | 'reset' | 'cut'>;
  #onChange: (() => void) | undefined;
  readonly #ended: Promise<void>;

  constructor(socket: Socket) {
    this.socket = socket;
    this.#ended = new Promise((resolve) => {
      socket.on('end', resolve);
    });
    let how: 'end' | 'reset' | 'cut' = 'cut';
    socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.#onChange?.();
    });
    socket.on('end', () => {
      if (how !== 'reset') how = 'end';
      this.#onChange?.();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET') how = 'reset';
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        resolve(how);
        this.#onChange?.();
      });
    });
  }

  get text(): string {
    return this.received.toString('latin1');
  }

  /** What was received, which is forgotten. */
  take(): string {
    const { text } = this;
    this.received = Buffer.alloc(0);
    return text;
  }

  send(bytes: string | Buffer): this {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return this;
  }

  /** Waits until what was received has the text, or matches; @throws when the connection ends before. */
  async until(what: string | RegExp | ((text: string) => boolean)): Promise<string> {
    const is = (text: string) =>
      typeof what === 'string' ? text.includes(what) : what instanceof RegExp ? what.test(text) : what(text);
    while (!is(this.text)) {
      if (this.socket.destroyed || this.socket.readableEnded)
        throw new Error(`the connection ended after ${JSON.stringify(this.text)}`);
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
    return this.text;
  }

  /** All that comes until the other side has sent everything; this side may go on. */
  async untilEnd(): Promise<string> {
    await Promise.race([this.#ended, this.closed]);
    return this.text;
  }

  /** All that comes until the connection is closed. */
  async toEnd(): Promise<string> {
    await this.closed;
    return this.text;
  }
}

/** Connects a visitor. Ends with the test. */
export async function visit(port: number, options: { allowHalfOpen?: boolean } = {}): Promise<Peer> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, ...options });
  onTestFinished(() => void socket.destroy());
  const peer = new Peer(socket);
  await once(socket, 'connect');
  return peer;
}
