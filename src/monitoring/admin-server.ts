// The admin listener: health and metrics for the operator's own machines. It shows no secrets and changes nothing.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Registry } from 'prom-client';
import { ApiConnections } from '../api/http/connections.ts';
import { metricsFor } from './metrics.ts';

/** Limit of open connections: enough for probes and a few that collect metrics. */
const CONNECTIONS_MAX = 256;

/**
 * Creates the server. `/livez` is 200 while the process runs. `/readyz` is 200 while the gateway can serve: all listeners
 * are open, the database responds within a second and can be written to, changes of other nodes arrive, and the gateway is
 * not stopping; otherwise it is 503 with the reason. `/metrics` is Prometheus text.
 * Requests for the name of anybody else are refused with 421.
 * @param registry of this process. @param metrics of all processes of the gateway. @param ownNames of the gateway, in lower case.
 * @param reasonNotReady resolves with null when the gateway can serve.
 */
export function createAdminServer(
  registry: Registry,
  metrics: Pick<Registry, 'metrics' | 'contentType'>,
  ownNames: ReadonlySet<string>,
  reasonNotReady: () => Promise<string | null>,
): Server {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const send = (status: number, text: string, type = 'text/plain; charset=utf-8') =>
      response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(text);
    if (!isTrustedHost(request.headers.host, ownNames))
      return send(421, 'ALLOWED_HOSTS of the gateway does not have the host of this request.\n');
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(405, 'Only GET.\n');
    switch (request.url?.split('?', 1)[0]) {
      case '/livez':
        return send(200, 'ok\n');
      case '/readyz': {
        const reason = await reasonNotReady();
        return reason ? send(503, `${reason}\n`) : send(200, 'ok\n');
      }
      case '/metrics':
        return send(200, await metrics.metrics(), metrics.contentType);
      default:
        return send(404, 'There are /livez, /readyz and /metrics.\n');
    }
  };
  metricsFor(registry).gauge('gateway_ready', 'Whether /readyz is 200: 1 or 0.', async () =>
    Number((await reasonNotReady()) === null),
  );
  const server = createServer((request, response) =>
    connections.enqueue(request, response, () => void handle(request, response)),
  );
  const connections = new ApiConnections(server, { max: CONNECTIONS_MAX, isProxy: () => true });
  return server;
}

/**
 * Whether a Host is none that a page of elsewhere can have led to this machine (DNS rebinding): an address, a name without a dot, which
 * nobody has on the Internet, or one of the gateway's own. Browsers always send one; some probes do not.
 */
function isTrustedHost(host: string | undefined, ownNames: ReadonlySet<string>): boolean {
  if (host === undefined) return true;
  const name = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
  return (
    !name.includes('.') || isIP(name.replace(/^\[|\]$/g, '')) !== 0 || name.endsWith('.localhost') || ownNames.has(name)
  );
}
