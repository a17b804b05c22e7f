// What events go to over plain HTTP, for tests, on one TLS port: Datadog's intake, Azure's login and ingestion of logs, an OpenTelemetry collector, and
// receivers of webhooks. It takes requests as those do, refuses what they would, and fails as it is told.

import { EventEmitter, once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { EventEndpoints } from '../../../src/events/settings.ts';
import { type Issuer, newIssuer } from '../issuer.ts';
import { readLogsRequest } from './otlp-proto.ts';

/** `login` is asked for tokens; `azure` is the ingestion. Any other path is a `webhook`'s. */
export type HttpService = 'datadog' | 'login' | 'azure' | 'otlp' | 'webhook';

/** What happens to one request, once it has arrived whole. */
export type Fault =
  /** Nothing: it is served. */
  | 'pass'
  /** The connection is reset. */
  | 'reset'
  /** It is served, and the connection is reset in place of the answer. */
  | 'lost'
  /** Nothing is ever answered. */
  | 'blackHole'
  /** Answered so: a body that is an object goes as JSON, a text as it is. */
  | { status: number; headers?: Record<string, string>; body?: object | string };

/** A request as it arrived. */
export interface HttpRequest {
  service: HttpService;
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** As it was sent, compressed or not. */
  raw: Buffer;
  /** What it says in JSON, after `content-encoding` is undone once; undefined when it is none. */
  json: unknown;
}

export interface HttpCloud {
  /** `https://localhost:port`; the certificate is for `localhost`. */
  readonly url: string;
  readonly port: number;
  /** The authority to trust, in PEM. */
  readonly ca: string;
  /** What goes into `EVENT_ENDPOINTS`, so that Datadog and Azure are this cloud. */
  readonly endpoints: EventEndpoints;
  /** All, in the order in which they arrived. */
  readonly requests: HttpRequest[];
  /** Those that were served, and not refused. */
  readonly taken: HttpRequest[];
  /** Says of the text of each request whether, and how, it is refused. */
  refuses: (text: string) => Extract<Fault, { status: number }> | undefined;
  /** Connections that were accepted so far. */
  readonly connections: number;
  /** What happens to the next requests to a service, one each, in this order; then they are served again. */
  script(service: HttpService, faults: Fault[]): void;
  /** Resolves with the next request to a service that arrives. */
  arrives(service: HttpService): Promise<HttpRequest>;
  /** Tokens that were given are not taken any more. */
  forgetTokens(): void;
  /** Writes the authority to a file, for `EVENT_CA_FILE`. */
  writeCa(path: string): Promise<string>;
  close(): Promise<void>;
}

/** The credentials that are right. */
export const right = {
  apiKey: 'dd0123456789abcdef0123456789abcdef',
  tenantId: '11111111-2222-3333-4444-555555555555',
  clientId: '66666666-7777-8888-9999-aaaaaaaaaaaa',
  clientSecret: 'the-right-secret',
  otlpToken: 'the-right-token-of-the-collector',
};

const WRONG_SECRET = {
  error: 'invalid_client',
  error_description:
    'AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is the client secret ' +
    'value, not the client secret ID. Trace ID: 0f0f Correlation ID: 1e1e Timestamp: 2026-11-21 10:00:00Z',
  error_codes: [7000215],
};

/** @param ca of the authority that its certificate comes from; one of its own when left out. */
export async function startHttpCloud({ ca }: { ca?: Issuer } = {}): Promise<HttpCloud> {
  const issuer = ca ?? (await newIssuer('CN=clouds for tests'));
  const scripts = new Map<HttpService, Fault[]>();
  const requests: HttpRequest[] = [];
  const taken: HttpRequest[] = [];
  const arrivals = new EventEmitter();
  const tokens = new Set<string>();
  let connections = 0;

  const server = createServer(await issuer.issue({ subject: 'CN=cloud', dns: ['localhost'], purpose: 'server' }));
  server.on('connection', () => connections++);
  server.on('request', async (incoming: IncomingMessage, response: ServerResponse) => {
    const request = requestOf(incoming, await buffer(incoming));
    requests.push(request);
    arrivals.emit(request.service, request);
    const fault = scripts.get(request.service)?.shift() ?? 'pass';
    if (fault === 'reset') return incoming.socket.destroy();
    if (fault === 'blackHole') return;
    if (fault !== 'pass' && fault !== 'lost') return answer(response, fault);
    const refusal = cloud.refuses(JSON.stringify(request.json) ?? '');
    const served = refusal ?? serve(request, tokens);
    if (served.status < 300) taken.push(request);
    if (fault === 'lost') incoming.socket.destroy();
    else answer(response, served);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const { port } = server.address() as AddressInfo;
  const url = `https://localhost:${port}`;
  const cloud: HttpCloud = {
    url,
    port,
    ca: issuer.cert,
    endpoints: { datadog: url, azure: url, azureLogin: url },
    requests,
    taken,
    refuses: () => undefined,
    get connections() {
      return connections;
    },
    script: (service, faults) => void scripts.set(service, [...faults]),
    arrives: async (service) => (await once(arrivals, service))[0],
    forgetTokens: () => tokens.clear(),
    async writeCa(path) {
      await writeFile(path, issuer.cert);
      return path;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return cloud;
}

type Served = Exclude<Fault, string>;

function serve(request: HttpRequest, tokens: Set<string>): Served {
  switch (request.service) {
    case 'datadog':
      return serveDatadog(request);
    case 'azure':
      return serveAzure(request, tokens);
    case 'login':
      return request.path.endsWith('/oauth2/v2.0/token') ? serveToken(request, tokens) : { status: 404 };
    case 'otlp':
      return serveOtlp(request);
    case 'webhook':
      return { status: 204 };
  }
}

function serveOtlp({ headers, json }: HttpRequest): Served {
  if (headers.authorization !== `Bearer ${right.otlpToken}`) return { status: 401, body: { code: 16 } };
  if (headers['content-type'] !== 'application/json') return { status: 415 };
  readLogsRequest(json);
  return { status: 200, body: { partialSuccess: {} } };
}

function serveDatadog({ headers, json }: HttpRequest): Served {
  if (headers['dd-api-key'] !== right.apiKey) return { status: 403, body: { errors: ['Forbidden'] } };
  if (!Array.isArray(json)) return { status: 400, body: { errors: ['Invalid JSON'] } };
  if (json.length > 1000 || Buffer.byteLength(JSON.stringify(json)) > 5_000_000) return { status: 413, body: {} };
  return { status: 202, body: {} };
}

function serveAzure({ headers, json, path }: HttpRequest, tokens: Set<string>): Served {
  const token = headers.authorization?.replace(/^Bearer /, '') ?? '';
  if (!tokens.has(token)) return { status: 401, body: { error: { code: 'InvalidAuthenticationToken' } } };
  const { pathname, searchParams } = new URL(path, 'https://cloud');
  const isKnown = /^\/dataCollectionRules\/dcr-[0-9a-f]{32}\/streams\/[\w-]+$/.test(pathname);
  if (!isKnown || searchParams.get('api-version') !== '2023-01-01')
    return { status: 404, body: { error: { code: 'NotFound' } } };
  if (!Array.isArray(json)) return { status: 400, body: { error: { code: 'InvalidRequestContent' } } };
  if (Buffer.byteLength(JSON.stringify(json)) > 1_048_576) return { status: 413, body: {} };
  return { status: 204 };
}

function serveToken({ raw }: HttpRequest, tokens: Set<string>): Served {
  const form = new URLSearchParams(raw.toString());
  if (form.get('client_id') !== right.clientId || form.get('client_secret') !== right.clientSecret)
    return { status: 401, body: WRONG_SECRET };
  const token = `token-${tokens.size}-${form.get('scope')}`;
  tokens.add(token);
  return { status: 200, body: { token_type: 'Bearer', expires_in: 3600, ext_expires_in: 3600, access_token: token } };
}

function requestOf({ method = '', url = '', headers }: IncomingMessage, raw: Buffer): HttpRequest {
  return { service: serviceOf(url), method, path: url, headers, raw, json: jsonOf(headers, raw) };
}

function serviceOf(path: string): HttpService {
  if (path === '/api/v2/logs') return 'datadog';
  if (path === '/v1/logs') return 'otlp';
  if (path.startsWith('/dataCollectionRules/')) return 'azure';
  return path.startsWith(`/${right.tenantId}/`) ? 'login' : 'webhook';
}

function jsonOf(headers: IncomingHttpHeaders, raw: Buffer): unknown {
  try {
    return JSON.parse((headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw).toString());
  } catch {
    return undefined;
  }
}

function answer(response: ServerResponse, { status, headers = {}, body = '' }: Served): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}
