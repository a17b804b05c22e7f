// Endpoints that visitors sign in to: a gateway, an agent, the service behind it, and an identity provider.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { callbackPath } from '../../src/visitor-sign-in/callback-address.ts';
import { type LocalAgent, newDirectory, startLocal } from '../agent/agents.ts';
import type { Account, TestGateway } from '../support/gateway/gateway.ts';
import { Browser, type Page, type PageOptions } from './browser.ts';
import { CLIENT, startProvider, type TestProvider } from './provider.ts';

/** What the service behind the endpoints says of a request that came to it. */
export interface Echo {
  url: string;
  headers: IncomingHttpHeaders;
}

export interface Stage {
  provider: TestProvider;
  /** Serves a policy, or an action with the provider's settings and more. @returns the origin, as in `http://name:8080`. */
  serve(
    settings?: Record<string, unknown>,
    more?: { before?: object[]; after?: object[]; rule?: object },
  ): Promise<string>;
  /** Serves the action at a name. */
  serveAt(domain: string | undefined, settings: Record<string, unknown>, protocol?: 'http' | 'https'): Promise<string>;
  /** Serves a policy as it is; rejects with what is wrong with it. */
  servePolicy(policy: object, domain?: string, protocol?: 'http' | 'https'): Promise<string>;
  /** Signs in up to a redirect to such a URL. @returns the redirect. */
  reach(browser: Browser, url: string, until: (url: string) => boolean, login?: string): Promise<Page>;
  browser(): Browser;
  /** Opens a page and signs in on the way. */
  signIn(url: string, login?: string, browser?: Browser): Promise<{ page: Page; browser: Browser }>;
  close(): Promise<void>;
}

let names = 0;

export interface StageOptions {
  provider?: TestProvider;
  /** Those whose callbacks are registered there, besides that of the gateway's own. */
  accounts?: readonly Account[];
  /** Whether callbacks are registered; true when left out. */
  registers?: boolean;
  accessSeconds?: number;
}

/** Sets the stage before a gateway. */
export async function setStage(gateway: TestGateway, options: StageOptions = {}): Promise<Stage> {
  const provider = options.provider ?? (await startProvider({ accessSeconds: options.accessSeconds }));
  const accounts = options.registers === false ? [] : [gateway, ...(options.accounts ?? [])];
  for (const { accountId } of accounts) provider.register(gateway.api + callbackPath(accountId, provider.issuer));
  const service = await startService();
  const place = newDirectory();
  const { body: credential } = await gateway.call('POST', '/credentials', {});
  const agent: LocalAgent = await startLocal(place.path, {
    GATEWAY_ADDR: gateway.agent,
    GATEWAY_CA: await caFile(place.path, gateway.ca),
    TUNNEL_AUTHTOKEN: credential.token,
    LEGS: '1',
  });
  const newName = () => `visited-${process.pid}-${names++}.tunnel.localhost`;
  const servePolicy: Stage['servePolicy'] = async (policy, domain = newName(), protocol = 'http') => {
    const answer = await agent.ask('POST', '/tunnels', {
      protocol,
      forwards_to: service.address,
      domain,
      policy,
    });
    if (answer.status >= 300) throw new Error(answer.text);
    return `${protocol}://${domain}:${gateway[protocol].split(':')[1]}`;
  };
  const actionOf = (settings: Record<string, unknown>) => ({
    type: 'openid-connect',
    config: { issuer_url: provider.issuer, ...CLIENT, scopes: ['email', 'profile'], ...settings },
  });
  const stage: Stage = {
    provider,
    servePolicy,
    serve: (settings = {}, { before = [], after = [], rule = {} } = {}) =>
      servePolicy({ on_http_request: [...before, { ...rule, actions: [actionOf(settings)] }, ...after] }),
    serveAt: (domain, settings, protocol) =>
      servePolicy({ on_http_request: [{ actions: [actionOf(settings)] }] }, domain, protocol),
    async reach(browser, url, until, login = 'ann') {
      const first = await browser.open(url, { until });
      return first.status === 200 ? logIn(browser, first, login, { until }) : first;
    },
    browser: () => new Browser(gateway.http, { listener: gateway.https, ca: gateway.ca }),
    async signIn(url, login = 'ann', browser = stage.browser()) {
      const page = await logIn(browser, await browser.open(url), login);
      return { page, browser };
    },
    async close() {
      await agent.close();
      await service.close();
      if (!options.provider) await provider.close();
      place.remove();
    },
  };
  return stage;
}

/** Goes through the provider's pages, from the first one to where the visitor is sent in the end. */
export async function logIn(browser: Browser, first: Page, login: string, options: PageOptions = {}): Promise<Page> {
  const consent = await browser.submit(first, { login, password: 'any' }, options);
  return /<form/.test(consent.body) && consent.status === 200 ? browser.submit(consent, {}, options) : consent;
}

/** The number of the error that a page shows. */
export const errorOf = (page: Page) => page.headers['gateway-error-code'];

/** What the service says that it got. */
export const echoOf = (page: Page) => JSON.parse(page.body) as Echo;

async function caFile(directory: string, ca: string): Promise<string> {
  const { writeFile } = await import('node:fs/promises');
  await writeFile(`${directory}/ca.pem`, ca);
  return `${directory}/ca.pem`;
}

/** Answers with what it got; speaks WebSocket, and keeps `/stream` open. */
async function startService() {
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/stream')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return void response.write('data: hello\n\n');
    }
    const { url, headers } = request;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ url, headers }));
  }).listen(0, '127.0.0.1');
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => socket.on('message', (text) => socket.send(text)));
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
