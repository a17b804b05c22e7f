// A gateway with an agent behind it, and a service that says what it was asked, for tests of captured requests.

import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished } from 'vitest';
import { listen } from '../../edge/sockets.ts';
import { newName } from '../../live/edges/support.ts';
import { newCredential } from '../../support/agents/live.ts';
import { openSdkSession, type SdkSession } from '../../support/agents/sdk.ts';
import { answerOf } from '../../support/gateway/answer.ts';
import { type Account, type Owner, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { type Subscription, subscribe } from '../../support/gateway/sse.ts';
import { type Visit, type VisitOptions, visit } from '../../support/visit.ts';

/** Header fields that no answer may show, once `X-Own` is redacted, too. */
export const SECRETS = {
  authorization: 'Bearer top-secret-1',
  cookie: 'a=top-secret-2',
  'x-api-key': 'top-secret-3',
  'x-own': 'top-secret-4',
};

export const REQUEST = `id endpointId operationId startedAt durationMilliseconds clientIp isTls httpVersion method url path
  status isComplete refusal { module reason } requestHeaders { name value isRedacted }
  responseHeaders { name value isRedacted } requestBody { bytes keptBytes isWhole base64 text }
  responseBody { bytes keptBytes isWhole base64 text } replayOf`;

const CAPTURE = 'endpointId isOn bodyBytes redactedHeaders kept keptBytes passed forgotten endsAt';

/** What the service was asked. */
export interface Asked {
  method: string;
  url: string;
  headers: string[];
  body: Buffer;
}

export interface CaptureLab {
  gateway: TestGateway;
  account: Account;
  session: SdkSession;
  /** What the service was asked, in order. */
  asked: Asked[];
  upstream: string;
  /** What the service waits for before it answers `/held`. */
  held: Promise<unknown>;
  /** A tunnel before the service. @returns its name and the id of its endpoint. */
  tunnel(scheme?: 'http' | 'https', owner?: Owner): Promise<{ name: string; id: string; scheme: 'http' | 'https' }>;
  endpointId(name: string): Promise<string>;
  visit(
    to: { id: string; name: string; scheme: 'http' | 'https' },
    path: string,
    options?: VisitOptions,
  ): Promise<Visit>;
  /** Runs an operation. @returns its one field. @throws what it fails with. */
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
  run(document: string, variables?: object, owner?: Owner): Promise<any>;
  /** How the capture of an endpoint stands. */
  // biome-ignore lint/suspicious/noExplicitAny: likewise.
  state(endpointId: string): Promise<any>;
  /** Ends with the test. */
  watch(endpointId: string, selection?: string): Promise<Subscription>;
  // biome-ignore lint/suspicious/noExplicitAny: likewise.
  start(endpointId: string, input?: object): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: likewise.
  requests(endpointId: string, args?: string): Promise<any[]>;
  // biome-ignore lint/suspicious/noExplicitAny: likewise.
  replay(id: string, input?: object, owner?: Owner): Promise<any>;
  close(): Promise<void>;
}

export const captureOperation = (name: string, args = '') =>
  `mutation ($id: ID!${args && ', $input: StartTrafficCaptureInput!'}) { ${name}(endpointId: $id${args}) { trafficCapture { ${CAPTURE} } } }`;

/** Ends with whoever closes it. @param used the one that files share, unless it is given. */
export async function startCaptureLab(used?: TestGateway): Promise<CaptureLab> {
  const gateway = used ?? (await sharedGateway());
  const account = await gateway.newAccount();
  const { session, close } = await openSdkSession(gateway, (await newCredential(account)).authtoken);
  const asked: Asked[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    void note(asked, request).then(async ({ url, body }) => {
      if (url === '/held') await lab.held;
      response.writeHead(url.startsWith('/teapot') ? 418 : 200, {
        'Content-Type': 'text/plain',
        'Set-Cookie': ['session=top-secret-answer; Path=/', 'other=top-secret-other'],
        ...(url.startsWith('/secrets') ? { 'X-Token': 'top-secret-token' } : {}),
      });
      if (url.startsWith('/large')) response.end(Buffer.alloc(3_000_000, 'x'));
      else response.end(`hello ${body.length}`);
    });
  });
  const upstream = `http://127.0.0.1:${await listen(server)}`;
  server.on('upgrade', (_, socket) => {
    socket.on('error', () => {}).on('end', () => socket.end());
    socket.resume().write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
  });
  const lab: CaptureLab = {
    gateway,
    account,
    session,
    asked,
    upstream,
    held: Promise.resolve(),
    async tunnel(scheme = 'http') {
      const name = newName('capture');
      await session.httpEndpoint().scheme(scheme).domain(name).listenAndForward(upstream);
      return { name, scheme, id: await lab.endpointId(name) };
    },
    async endpointId(name) {
      const { endpoints } = (await account.call('GET', '/endpoints')).body;
      return endpoints.find(({ hostport }: { hostport: string }) => hostport.startsWith(`${name}:`)).id;
    },
    visit: ({ name, scheme }, path, options) =>
      visit(`${scheme}://${name}${path}`, scheme === 'http' ? gateway.http : gateway.https, {
        ca: gateway.ca,
        ...options,
      }),
    async run(document, variables, owner = account) {
      const { body, text } = await owner.graphql(document, variables);
      if (body.errors) throw Object.assign(new Error(body.errors[0].message), body.errors[0].extensions);
      expect(text.includes('top-secret'), 'a secret in an answer').toBe(false);
      return answerOf(document, body.data);
    },
    async watch(endpointId, selection = REQUEST) {
      const document = `subscription ($id: ID!) { requestCaptured(endpointId: $id) { ${selection} } }`;
      const stream = await subscribe(gateway.api, account.key, document, { id: endpointId });
      onTestFinished(() => stream.close());
      return stream;
    },
    state: (id) =>
      lab.run('query ($id: ID!) { trafficCapture(endpointId: $id) { isOn kept passed forgotten keptBytes endsAt } }', {
        id,
      }),
    start: (id, input = {}) => lab.run(captureOperation('startTrafficCapture', ', input: $input'), { id, input }),
    async requests(id, args = '') {
      const query = `query ($id: ID!) { capturedRequests(endpointId: $id${args}) { nodes { ${REQUEST} } } }`;
      return (await lab.run(query, { id })).nodes;
    },
    replay: (id, input, owner) =>
      lab.run(
        `mutation ($id: ID!, $input: ReplayRequestInput) { replayRequest(id: $id, input: $input) { replay {
          status durationMilliseconds headers { name value isRedacted } body { bytes keptBytes isWhole base64 text }
          captured { ${REQUEST} } } } }`,
        { id, input },
        owner,
      ),
    async close() {
      await close();
      server.close();
      server.closeAllConnections();
    },
  };
  return lab;
}

async function note(asked: Asked[], request: IncomingMessage): Promise<Asked> {
  const body = await buffer(request);
  const one = { method: request.method ?? '', url: request.url ?? '', headers: request.rawHeaders, body };
  asked.push(one);
  return one;
}
