// The admin listener: health and metrics for the operator's own machines. It shows no secrets and changes nothing.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { Registry } from 'prom-client';
import { ApiConnections } from '../api/http/connections.ts';

/** Limit of open connections, and of those that wait for the server: enough for probes and a few that collect metrics. */
export const ADMIN_CONNECTIONS_MAX = 256;

/** Whether the gateway can serve. */
export interface Readiness {
  /** Why it cannot, as a sentence; null when it can. */
  reason: string | null;
  /** How long ago that was so, in milliseconds; left out when it is so now. */
  ageMs?: number;
}

/** What the listener tells. */
export interface AdminAnswers {
  readiness(): Promise<Readiness>;
  /** The metrics of all processes of the gateway, in the text format of Prometheus. */
  metrics(): Promise<string>;
}

/**
 * Creates the server. `/livez` is 200 while the process runs. `/readyz` is 200 while the gateway can serve: all listeners
 * are open, the database responds within a second and can be written to, changes of other nodes arrive, and the gateway is
 * not stopping; otherwise it is 503 with the reason. `/metrics` is Prometheus text.
 * Requests for the name of anybody else are refused with 421.
 * @param ownNames of the gateway, in lower case.
 */
export function createAdminServer(answers: AdminAnswers, ownNames: ReadonlySet<string>): Server {
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
        const { reason, ageMs } = await answers.readiness();
        const age =
          ageMs === undefined
            ? ''
            : `It was so ${(ageMs / 1000).toFixed(1)} s ago; the control process does not answer.\n`;
        return send(reason === null ? 200 : 503, `${reason ?? 'ok'}\n${age}`);
      }
      case '/metrics':
        return send(200, await answers.metrics(), Registry.PROMETHEUS_CONTENT_TYPE);
      default:
        return send(404, 'There are /livez, /readyz and /metrics.\n');
    }
  };
  const server = createServer((request, response) =>
    connections.enqueue(request, response, () => {
      handle(request, response).catch((error: Error) => response.writeHead(500).end(`${error.message}\n`));
    }),
  );
  const connections = new ApiConnections(server, { max: ADMIN_CONNECTIONS_MAX, isProxy: () => true });
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
