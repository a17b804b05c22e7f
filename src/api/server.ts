// The API listener: what every request gets, and which door it goes through.

import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import { ProxyProtocolListeners } from '../edge/proxy-protocol/listeners.ts';
import { qualityValues } from '../http/quality-values.ts';
import { networksOf } from '../net/networks.ts';
import { SERVER_TLS } from '../protocol/tls-suites.ts';
import { newId } from '../store/ids.ts';
import type { CallbackHandler } from '../visitor-sign-in/callback.ts';
import { isCallbackPath } from '../visitor-sign-in/callback-address.ts';
import type { AgentFiles } from './agent-files/files.ts';
import { agentDocuments } from './agent-files/serve.ts';
import type { ApiApp } from './context.ts';
import type { Dashboard } from './dashboard/files.ts';
import { isDashboardPath, redirectToDashboard, serveDashboard } from './dashboard/serve.ts';
import type { ApiExchange } from './exchange.ts';
import { createEngine } from './graphql/engine.ts';
import { createGraphiqlPage, requestsGraphiql } from './graphql/graphiql.ts';
import { graphqlHandler } from './graphql/handler.ts';
import { graphqlSockets } from './graphql/sockets/accept.ts';
import { createAdmission } from './http/admission.ts';
import type { IsChangeFeedConnected } from './http/authentication.ts';
import { CONFIRM_PATH, type ConfirmHandler } from './http/confirm-recipient.ts';
import { ApiConnections } from './http/connections.ts';
import { corsFor } from './http/cors.ts';
import type { ListenerTls } from './http/listener-tls.ts';
import type { ApiMetrics } from './http/metrics.ts';
import { respondToClientErrors, respondToConnect, type UpgradeListener } from './http/parser-errors.ts';
import { checkRequestHead, normalizeRequestPath } from './http/request-head.ts';
import { createRequestLogger } from './http/request-log.ts';
import { baseUrlOf, clientAddress, forwardedScheme, isLoopbackRequest } from './http/request-origin.ts';
import { ResponseBodies } from './http/response-body.ts';
import { sendError } from './http/responses.ts';
import {
  asksForWebSocket,
  handshakeRefusal,
  limitUpgrades,
  originRefusal,
  webSocketRefusal,
} from './http/web-sockets.ts';
import { serveDocs } from './rest/docs/serve.ts';
import { createExports } from './rest/exports/exports.ts';
import { createRestApp, prepareRoutes, serveCollectionList } from './rest/handler.ts';
import { openApiDocuments, serveOpenApi } from './rest/openapi.ts';
import { dialectOf, type Route } from './route.ts';

const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 30_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** How long a connection may wait for its next request: longer than proxies keep theirs, which else use one that is just closed. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

export interface Api {
  /** It may listen, and get its port, before `open`: requests wait until then. */
  server: Server;
  /** All is there that requests may ask. */
  open(): void;
  /** From now on, answers end their connections. */
  drain(): void;
  /** Forgets which API keys were accepted: something may have been missed. */
  forgetCallers(): void;
}

export interface ApiOptions {
  app: ApiApp;
  schema: GraphQLSchema;
  routes: Route[];
  log: Logger;
  metrics: ApiMetrics;
  isChangeFeedConnected: IsChangeFeedConnected;
  /** Left out: none was built. */
  dashboard?: Dashboard;
  /** Documents that requests may name in place of sending one, by their SHA-256; those of the dashboard alone when left out. */
  documents?: ReadonlyMap<string, string>;
  /** The file of what draws the page `/docs`; left out: there is no such page. */
  docsRenderer?: string | undefined;
  /** Answers visitors who come back from an identity provider. */
  callback?: CallbackHandler;
  /** Answers the page on which recipients of alerts agree. */
  confirmRecipient?: ConfirmHandler;
  /** Left out: the agent is not offered. */
  agentFiles?: AgentFiles | undefined;
  /** What TLS is spoken with; left out: the listener speaks plain HTTP. */
  tls?: Omit<ListenerTls, 'expiries'>;
  /** Lets Yoga's adapter frame every GraphQL request: the tests of GraphQL run once more so. */
  onlyYoga?: boolean;
  /** How long an answer may stand still at its client; milliseconds. Left out: the usual. */
  writeStallMs?: number;
}

const NO_DASHBOARD: Dashboard = { files: new Map(), operations: new Map() };

export function createApi(options: ApiOptions): Api {
  const {
    app,
    schema,
    routes,
    log,
    metrics,
    isChangeFeedConnected,
    dashboard = NO_DASHBOARD,
    documents = dashboard.operations,
    agentFiles,
    callback,
    confirmRecipient,
    tls,
    onlyYoga = false,
  } = options;
  const { writeStallMs } = options;
  const { config } = app;
  const isPublicSecure = config.publicApiUrl?.startsWith('https:') ?? false;
  const { admitRest, admitGraphql, admitSocket, admitExport, countStranger, forgetCallers } = createAdmission(
    app,
    isChangeFeedConnected,
  );
  const preparedRoutes = prepareRoutes(schema, routes);
  const exports = createExports(schema, routes, admitExport);
  const openApi = openApiDocuments(schema, preparedRoutes, {
    more: exports.openApiPaths,
    versionHeaders: config.versionHeaders,
  });
  const rest = createRestApp(
    preparedRoutes,
    {
      '/': serveCollectionList(preparedRoutes.documented),
      '/openapi.json': serveOpenApi(openApi),
      ...serveDocs(openApi, options.docsRenderer),
      ...agentDocuments(agentFiles, app, countStranger),
    },
    exports.handlers,
    admitRest,
  );
  const engine = createEngine(schema, documents);
  const allowOrigin = corsFor(config.corsOrigins);
  const logRequest = createRequestLogger(log, metrics);
  const graphql = graphqlHandler({ app, engine, admit: admitGraphql, logRequest, onlyYoga });
  const proxies = networksOf(config.trustedProxies);
  const body = new ResponseBodies();
  const serveGraphiql = createGraphiqlPage();
  const openWebSocket = graphqlSockets({ app, engine, admit: admitSocket, logRequest, writeStallMs });
  let draining = false;
  // Express changes the prototype of each request and response, which slows all later use of them, unless they have
  // the right one from the beginning.
  const httpClasses = {
    IncomingMessage: withPrototype(IncomingMessage, rest.request),
    ServerResponse: withPrototype(ServerResponse, rest.response),
    requireHostHeader: false, // What is wrong with a head is said in our own words.
  };
  limitUpgrades(rest.request);
  const handle: UpgradeListener = (request, response, upgradeHead) => {
    const started = performance.now();
    const operationId = newId('op');
    const clientIp = clientAddress(request, proxies);
    const scheme = forwardedScheme(request, proxies);
    const exchange: ApiExchange = {
      request,
      response,
      operationId,
      dialect: dialectOf(request.headers, config.versionHeaders),
      baseUrl: baseUrlOf(config, request, scheme),
      clientIp,
      isSecure: isPublicSecure || tls !== undefined || scheme === 'https',
      isLoopback: isLoopbackRequest(request, clientIp),
      body,
      log: {},
    };
    response.setHeader('Service-Operation-Id', operationId);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (draining) response.setHeader('Connection', 'close');
    response.once('close', () => {
      logRequest(exchange, performance.now() - started);
      // An answer that was under way when the drain began did not say that it is the last one.
      if (draining) setImmediate(() => server.closeIdleConnections());
    });

    const headError = checkRequestHead(request);
    if (headError) {
      response.setHeader('Connection', 'close'); // Where its body ends is not sure.
      return sendError(exchange, headError);
    }
    const requestedPath = request.url?.split('?', 1)[0] ?? '';
    const path = normalizeRequestPath(requestedPath);
    if (path !== requestedPath) request.url = path + (request.url ?? '').slice(requestedPath.length);
    if (asksForWebSocket(request)) {
      const refusal = webSocketRefusal(request) ?? originRefusal(exchange, config.corsOrigins);
      if (!refusal && upgradeHead) return openWebSocket(exchange, upgradeHead);
      response.setHeader('Connection', 'close');
      return sendError(exchange, refusal ?? handshakeRefusal());
    }
    if (isCallbackPath(path) && callback) return void callback(request, response);
    if (path === CONFIRM_PATH && confirmRecipient) return confirmRecipient(request, response);
    // Before other origins are let in: a page of theirs has no use for ours.
    if (isDashboardPath(path)) return serveDashboard(dashboard, path, exchange);
    if (path === '/') {
      response.setHeader('Vary', 'Accept');
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (isRead && prefersHtml(request.headers.accept ?? '')) return redirectToDashboard(exchange);
    }
    allowOrigin(request, response, () => {
      if (path === '/graphql' && requestsGraphiql(request)) serveGraphiql(exchange);
      else if (path === '/graphql') graphql(exchange).catch((error) => sendError(exchange, error));
      else rest(request as never, Object.assign(response, { locals: { exchange } }) as never);
    });
  };
  let pendingRequests: (() => void)[] | undefined = [];
  const begin: UpgradeListener = (...args) => {
    const [, response] = args;
    if (pendingRequests) pendingRequests.push(() => response.destroyed || handle(...args));
    else handle(...args);
  };
  const listener: RequestListener = (request, response) =>
    connections.enqueue(request, response, () => begin(request, response));
  const server = serverOf(tls, httpClasses, listener);
  const isProxy = (ip: string) => proxies.has(ip);
  const connections = new ApiConnections(server, { max: config.maxApiConnections, isProxy, writeStallMs });
  const proxied = new ProxyProtocolListeners(config, { log });
  proxied.guard('api', server);
  server.on('checkExpectation', listener);
  respondToClientErrors(server, connections, log, metrics);
  respondToConnect(server, connections, httpClasses.ServerResponse, begin);
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;

  return {
    server,
    open() {
      const pending = pendingRequests ?? [];
      pendingRequests = undefined;
      for (const begin of pending) begin();
    },
    drain() {
      draining = true;
      void proxied.close();
      server.closeIdleConnections();
    },
    forgetCallers,
  };
}

type HttpClasses = Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse' | 'requireHostHeader'>;

function serverOf(tls: ApiOptions['tls'], httpClasses: HttpClasses, listener: RequestListener): Server {
  if (!tls) return createServer(httpClasses, listener);
  const terms = { ...SERVER_TLS, minVersion: 'TLSv1.2' } as const;
  const handshakeTimeout = HANDSHAKE_TIMEOUT_MS;
  const server = createTlsServer({ ...httpClasses, ...terms, ...tls.pair, handshakeTimeout }, listener);
  tls.onChange((pair) => server.setSecureContext({ ...terms, ...pair }));
  server.on('tlsClientError', (_, socket) => socket.destroy()); // Of a handshake that takes too long, Node only tells.
  return server;
}

/** Whether an `Accept` header would rather have HTML than JSON, as those of browsers do when a page is opened. */
function prefersHtml(accept: string): boolean {
  const weights = qualityValues(accept);
  const html = weights.get('text/html') ?? 0;
  const json = weights.get('application/json') ?? weights.get('application/*') ?? weights.get('*/*') ?? 0;
  return html > json;
}

/** A class whose instances have another prototype, which must inherit from the class's own. */
function withPrototype<HttpClasses extends new (...args: never[]) => object>(
  base: HttpClasses,
  prototype: object,
): HttpClasses {
  function Instance(this: object, ...args: unknown[]) {
    (base as unknown as (...args: unknown[]) => void).apply(this, args); // Node's own are functions still.
  }
  Instance.prototype = prototype;
  return Instance as unknown as HttpClasses;
}
