// A gateway in this process, for one test file: real sockets, a real database, nothing of ours replaced.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent, type OutgoingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect } from 'vitest';
import { readDashboard } from '../../../src/api/dashboard/files.ts';
import { apiMetrics } from '../../../src/api/http/metrics.ts';
import { routes, schema } from '../../../src/api/schema.ts';
import { createApi } from '../../../src/api/server.ts';
import { type Config, readConfig } from '../../../src/config/config.ts';
import { endpointNames } from '../../../src/events/sinks/index.ts';
import { type Gateway, startGateway } from '../../../src/gateway/gateway.ts';
import type { GatewayOptions } from '../../../src/gateway/gateway-options.ts';
import { startWorker } from '../../../src/gateway/workers/worker.ts';
import { newAdminKey } from '../../../src/store/first-start.ts';
import { newId } from '../../../src/store/ids.ts';
import { root } from '../root.ts';
import { send, sendRaw } from './http.ts';
import { lendDatabase } from './lent-databases.ts';
import { answerChecksOf } from './openapi.ts';
import { freePorts, hasWorkers, hops, migrations, newPlace, onServer } from './place.ts';
import { countingAtOneTime, noteStatement } from './statements.ts';

import type { Account, Call, Owner, Query, TestGateway, TestOptions } from './types.ts';

export { onServer } from './place.ts';
export type { Account, Call, Owner, Query, RequestOptions, TestGateway, TestOptions } from './types.ts';

const shared = new Map<string, Promise<TestGateway>>();

/**
 * A gateway that the test files of a worker share, those with the same options: starting one takes as long as most files
 * do. For tests that work in accounts of their own and leave the database's tables as they are. Nobody closes it: it
 * ends with the worker.
 * @param overrides environment variables.
 */
export function sharedGateway(overrides: Record<string, string> = {}): Promise<TestGateway> {
  return sharedAs(JSON.stringify(overrides), () => startTestGateway(overrides));
}

/** The same with an account of its own, whose admin asks. */
export async function sharedGatewayWithAccount(): Promise<TestGateway> {
  const gateway = await sharedGateway();
  return { ...gateway, ...(await gateway.newAccount()) };
}

/** Another that is shared, whose requests' statements count. Its clock stands still. */
export function countingGateway(): Promise<TestGateway> {
  return sharedAs('counting', () => startTestGateway({ NODE_LEASE_MS: '600000' }, countingAtOneTime()));
}

function sharedAs(name: string, start: () => Promise<TestGateway>): Promise<TestGateway> {
  const gateway = shared.get(name) ?? start();
  shared.set(name, gateway);
  return gateway;
}

/**
 * Starts a gateway on free ports, with data of its own unless told otherwise. `call`, `graphql`, `key` are those of the
 * first account's admin.
 * @param overrides environment variables.
 */
export async function startTestGateway(
  overrides: Record<string, string> = {},
  options: TestOptions = {},
): Promise<TestGateway> {
  // What keeps its place, or migrates, has a database of its own.
  const isLent = !onServer && !options.place && !options.migrations;
  const { place = await newPlace({ isLent }), counting = false, ...more } = options;
  const others: Server[] = [];
  const logs: string[] = [];
  const readers = new Set<(line: string) => void>();
  const log = (line: string) => {
    logs.push(line);
    for (const read of readers) read(line);
  };
  // Without redaction: what must not be in a log is not to be handed to it.
  const logger = pino({ level: 'trace', base: null }, { write: log });
  const statements: string[] = [];
  const fatal: string[] = [];
  const env = {
    ...freePorts,
    RATE_LIMIT: '1000000',
    STRANGER_RATE_LIMIT: '1000000',
    WORKERS: hasWorkers ? '2' : '1',
    DRAIN_MS: '1000',
    INITIAL_API_KEY: 'chosen-by-the-tests-0001',
    POLICY_FETCH: 'any',
    VERSION_HEADER_ALIASES: 'Other-Version',
    // No test's events leave the machine: nobody listens there.
    EVENT_ENDPOINTS: endpointNames.map((name) => `${name}=http://127.0.0.1:1`).join(),
    ...place.env,
    ...overrides,
  };
  const removePlace = async () => {
    if (!options.place) await place.remove();
  };
  const isHopped = hops && !options.place;
  const start = (variables: Record<string, string>) =>
    startShape(readConfig(variables, root), {
      log: logger,
      migrations,
      agentPackage: join(root, 'agent'),
      onFatal: (text) => void fatal.push(text),
      onlyYoga: process.env.GATEWAY_TEST_ONLY_YOGA === '1',
      ...(isLent ? { database: lendDatabase((text) => void fatal.push(text)) } : {}),
      ...(counting ? { onQuery: noting(statements) } : {}),
      ...more,
    });
  const gateway = await start({ ...env, ...(isHopped && linked('127.0.0.1')) }).catch(async (error) => {
    await removePlace();
    throw error;
  });
  const { app, addresses } = gateway;
  const owner = isHopped ? await start(agentNode(env, addresses)) : gateway; // Which agents connect to.
  const agent = new Agent({ keepAlive: true });
  const checks = await answerChecksOf(addresses.api, agent);
  let closed: Promise<void> | undefined;

  const callAs = (ownKey: string): Call => {
    return async (method, path, body, { key = ownKey, dialect, headers } = {}) => {
      const url = new URL(path, addresses.api);
      expect(url.origin, 'where a URI leads').toBe(addresses.api);
      const payload =
        body === undefined || typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body);
      const answer = await send(
        agent,
        method,
        url.href,
        { ...usual(key, payload), [dialect === 'extended' ? 'other-version' : 'service-version']: '2', ...headers },
        payload,
      );
      checks[dialect ?? 'documented'](method, url.pathname, answer);
      return answer;
    };
  };
  const graphqlAs = (ownKey: string): Query => {
    return (query, variables, { key = ownKey, headers, base = addresses.api } = {}) => {
      const payload = JSON.stringify({ query, variables });
      return send(agent, 'POST', `${base}/graphql`, { ...usual(key, payload), ...headers }, payload);
    };
  };
  const asOwner = (accountId: string, ownerId: string, key: string): Owner => ({
    accountId,
    ownerId,
    key,
    call: callAs(key),
    graphql: graphqlAs(key),
  });
  const addOwner: (accountId: string, ...rest: Parameters<Account['addOwner']>) => Promise<Owner> = async (
    accountId,
    { role = 'MEMBER', kind = 'USER' } = {},
  ) => {
    const id = newId(kind === 'BOT' ? 'bot' : 'usr');
    const owner = await app.prisma.owner.create({ data: { id, accountId, kind, role, subject: `${id}@localhost` } });
    return asOwner(accountId, id, await newAdminKey(app.prisma, app.keys, owner, 'key of a test'));
  };

  const admin = await app.prisma.owner.findFirstOrThrow({ where: { subject: 'admin@localhost' } });
  const key = env.INITIAL_API_KEY;
  return {
    ...asOwner(admin.accountId, admin.id, key),
    api: addresses.api,
    admin: addresses.admin,
    agent: owner.addresses.agent,
    http: addresses.http,
    https: addresses.https,
    ca: await readFile(gateway.caFile, 'utf8'),
    app,
    registrar: owner.registrar,
    events: gateway.events,
    first: gateway.first,
    signInToken: gateway.signInToken,
    place,
    logs,
    logged: (test) =>
      new Promise((resolve) => {
        const read = (text: string) => {
          const line = JSON.parse(text) as Record<string, unknown>;
          if (!test(line)) return;
          readers.delete(read);
          resolve(line);
        };
        readers.add(read);
        for (const line of [...logs]) read(line);
      }),
    statements,
    fatal,
    raw: (bytes) => sendRaw(addresses.api, bytes),
    async byYoga() {
      const metrics = apiMetrics(new Registry());
      const dashboard = await readDashboard(options.dashboard);
      const more = { isChangeFeedConnected: () => false, dashboard, onlyYoga: true };
      const { server, open } = createApi({ app, schema, routes, log: logger, metrics, ...more });
      open();
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      others.push(server);
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    async newAccount({ role = 'ADMIN' } = {}) {
      const { id } = await app.prisma.account.create({ data: { id: newId('ac') } });
      const owner = await addOwner(id, { role });
      return { ...owner, addOwner: (role) => addOwner(id, role) };
    },
    close() {
      closed ??= (async () => {
        agent.destroy();
        for (const server of others) {
          server.close();
          server.closeAllConnections();
        }
        if (owner !== gateway) await owner.close();
        await gateway.close();
        await removePlace();
      })();
      return closed;
    },
  };
}

/** Starts a gateway as one process is, or a control process and a worker, which are both in this process here. */
async function startShape(config: Config, options: GatewayOptions): Promise<Gateway> {
  const directory = config.nodeLink?.localDirectory;
  if (directory === undefined) return startGateway(config, options);
  const { log, signerHosts, now } = options;
  const [gateway] = await Promise.all([
    startGateway(config, options),
    startWorker(config, { log, signerHosts, now, directory, registry: new Registry() }),
  ]);
  return gateway;
}

const linked = (address: string) => ({ NODE_ADDR: address, NODE_PORT: '0' });

/** The node that agents connect to, where it is another one than that of the visitors: their listeners are in its URLs. */
function agentNode(env: Record<string, string>, { http, https }: Record<'http' | 'https', string>) {
  const [, httpPort = ''] = http.split(':');
  const [, httpsPort = ''] = https.split(':');
  const host = '127.0.0.2';
  return { ...env, ...linked(host), HOST: host, PUBLIC_HTTP_PORT: httpPort, PUBLIC_HTTPS_PORT: httpsPort };
}

function noting(all: string[]): (statement: string) => void {
  return (statement) => {
    all.push(statement);
    noteStatement(statement);
  };
}

function usual(key: string | null, payload: string | Buffer | undefined): OutgoingHttpHeaders {
  return {
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
  };
}
