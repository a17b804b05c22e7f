// What stands in front of several gateways: it looks which of them are ready, as a load balancer does, tells visitors where to go,
// and hands agents' connections on. The manual shows the same with HAProxy.

import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** How often nodes are asked whether they are alive and ready, and how long an answer may take; milliseconds. */
const CHECK_MS = 250;
const PATIENCE_MS = 500;
/** How many nodes a connection of an agent is offered to. */
const ATTEMPTS = 10;

/** A node, as the front sees it. Addresses may change with a restart. */
export interface FrontNode {
  /** The URL of the admin listener. */
  admin(): string;
  /** Where agents connect, `host:port`. */
  agent(): string;
}

export interface Front<Node extends FrontNode> {
  /** Where agents connect. */
  host: string;
  port: number;
  /** A node at random among those that are ready; when none is, among all: it serves what it knows. */
  pick(): Node;
  /** Leads all agents to this node while it is ready; undefined: to one at random again. */
  leadAgentsTo(node: Node | undefined): void;
  /** Waits until all nodes are ready. */
  allReady(): Promise<void>;
  close(): void;
}

export async function startFront<Node extends FrontNode>(nodes: readonly Node[]): Promise<Front<Node>> {
  const ready = new Set<Node>(nodes);
  /** The connections of agents by the node that has them. */
  const agents = new Map<Node, Set<Socket>>(nodes.map((node) => [node, new Set()]));
  const pick = () => {
    const some = ready.size > 0 ? [...ready] : nodes;
    return some[Math.floor(Math.random() * some.length)] as Node;
  };
  let only: Node | undefined;
  let isClosed = false;
  const watch = async (node: Node) => {
    while (!isClosed) {
      const [isReady, isAlive] = await Promise.all([isOk(node, '/readyz'), isOk(node, '/livez')]);
      if (isReady) ready.add(node);
      else ready.delete(node);
      // One that is not ready keeps its agents: without its database it goes on, and it may tell so late.
      if (!isAlive) for (const socket of agents.get(node) ?? []) socket.resetAndDestroy();
      await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
    }
  };
  for (const node of nodes) void watch(node);

  const server = createServer({ noDelay: true }, (near) => {
    near.on('error', () => {});
    handOn(near, ATTEMPTS);
  });
  const handOn = (near: Socket, attempts: number) => {
    const node = only && ready.has(only) ? only : pick();
    const [host, port] = node.agent().split(':');
    const far = connect({ host, port: Number(port), noDelay: true });
    // A node that refuses is tried no longer than another one is found: some SDKs rest for two minutes after three failures.
    const onRefused = () => (attempts > 1 ? handOn(near, attempts - 1) : near.destroy());
    far.once('error', onRefused).once('connect', () => {
      far.off('error', onRefused).on('error', () => {});
      if (near.destroyed) return void far.destroy();
      agents.get(node)?.add(near);
      near.on('close', () => {
        agents.get(node)?.delete(near);
        far.destroy();
      });
      far.on('close', () => near.destroy()).pipe(near);
      near.pipe(far);
    });
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    pick,
    leadAgentsTo(node) {
      only = node;
    },
    async allReady() {
      while (ready.size < nodes.length) await new Promise((resolve) => setTimeout(resolve, CHECK_MS / 5));
    },
    close() {
      isClosed = true;
      server.close();
      for (const sockets of agents.values()) for (const socket of sockets) socket.destroy();
    },
  };
}

/** @returns whether the node answers with 200 in time. */
function isOk(node: FrontNode, path: '/livez' | '/readyz'): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(node.admin() + path, { agent: false, timeout: PATIENCE_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked
      .on('timeout', () => asked.destroy())
      .on('error', () => resolve(false))
      .end();
  });
}
