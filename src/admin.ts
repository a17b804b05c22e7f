// The admin listener: health and metrics, for the operator's own machines. It tells no secrets and changes nothing.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { Connections } from './api/connections.ts';
import { metricsOf } from './metrics.ts';

/** Longer than this, and the database counts as away. */
const READY_TIMEOUT_MS = 1000;
/** Connections at once, from wherever: probes and a few that collect metrics. */
const CONNECTIONS_MAX = 256;

/** Of the gateway’s life. */
export type Phase = 'starting' | 'serving' | 'stopping';

export interface Health {
  /** Resolves when the database answers. */
  database(): Promise<void>;
  phase(): Phase;
  /** Whether it hears what other nodes change. */
  hearing(): boolean;
  /** Whether nothing can be written, as the disk below the embedded database is full. */
  isFull(): Promise<boolean>;
}

/**
 * `/livez` answers while the process does. `/readyz` is 200 while the gateway can serve: all its listeners are open, its
 * database answers within a second and can be written to, it hears of changes, and it is not stopping; otherwise 503 with the reason. `/metrics` is Prometheus text.
 */
export function createAdmin(registry: Registry, health: Health): Server {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const send = (status: number, text: string, type = 'text/plain; charset=utf-8') =>
      response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(text);
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(405, 'Only GET.\n');
    switch (request.url?.split('?', 1)[0]) {
      case '/livez':
        return send(200, 'ok\n');
      case '/readyz': {
        const reason = await notReady(health);
        return reason ? send(503, `${reason}\n`) : send(200, 'ok\n');
      }
      case '/metrics':
        return send(200, await registry.metrics(), registry.contentType);
      default:
        return send(404, 'There are /livez, /readyz and /metrics.\n');
    }
  };
  metricsOf(registry).gauge('gateway_ready', 'Whether /readyz is 200: 1 or 0.', async () =>
    Number((await notReady(health)) === null),
  );
  const server = createServer((request, response) =>
    connections.begin(request, response, () => void handle(request, response)),
  );
  const connections = new Connections(server, { max: CONNECTIONS_MAX, isProxy: () => true });
  return server;
}

async function notReady({ database, phase, hearing, isFull }: Health): Promise<string | null> {
  if (phase() !== 'serving') return `The gateway is ${phase()}.`;
  if (!hearing()) return 'The LISTEN connection to the database is lost: changes of other nodes are not heard.';
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, READY_TIMEOUT_MS, 'The database does not answer.');
  });
  const answer = async () => {
    try {
      if (await isFull()) return 'The disk below the database is full: nothing can be written.';
      await database();
      return null;
    } catch {
      return 'The database cannot be reached.';
    }
  };
  return Promise.race([answer(), late]).finally(() => clearTimeout(timer));
}
