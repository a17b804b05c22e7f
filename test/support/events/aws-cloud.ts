// An AWS cloud for tests: Firehose, Kinesis (for what kinesalite cannot do), CloudWatch Logs and STS on one TLS port. It
// takes requests as AWS does, with signatures that another library than the SDK finds right, and fails as it is told.

import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Issuer } from '../issuer.ts';
import { CloudError, type CloudKeys, Guard, type Scope, type SignedRequest, scopeOf } from './aws-cloud-guard.ts';
import { type AwsBody, type CloudState, serve } from './aws-cloud-services.ts';

export type AwsService = 'firehose' | 'kinesis' | 'logs' | 'sts';

/** What happens to one request, once it has arrived. Only `pass`, `lost` and `partial` look at its signature. */
export type Fault =
  /** Nothing: it is served. */
  | 'pass'
  /** The connection is reset. */
  | 'reset'
  /** Nothing is ever answered. */
  | 'blackHole'
  /** It is served, and the connection is reset in place of the answer. */
  | 'lost'
  /** The head of an answer comes, its body never. */
  | 'stall'
  /** Refused so, as `{ status: 400, code: 'ThrottlingException' }`; without a code with a body that is not of AWS. */
  | { status: number; code?: string; message?: string; headers?: Record<string, string> }
  /** Of Firehose and Kinesis: served, but the records at these places are not taken. */
  | { partial: number[]; code?: string }
  /** Answered so with status 200, and nothing is taken: a text as it is, anything else in JSON. */
  | { answer: unknown };

/** A request as it arrived. */
export interface AwsRequest extends Scope {
  operation: string;
  /** `1.1` */
  httpVersion: string;
  headers: IncomingHttpHeaders;
  body: AwsBody;
  /** The client's port: the same for requests of one connection. */
  port: number;
}

export interface AwsCloud {
  /** Where the service is: what goes into `EVENT_ENDPOINTS`. The certificate is for `localhost`. */
  url(service: AwsService): string;
  readonly port: number;
  /** All, in the order in which they arrived. */
  readonly requests: AwsRequest[];
  /** What happens to the next requests to a service, one each, in this order; then they are served again. */
  script(service: AwsService, faults: Fault[]): void;
  /** Resolves with the next request that arrives. */
  arrives(): Promise<AwsRequest>;
  /** What was taken, as text, in order. */
  records(service: AwsService): string[];
  /** Keys that may do everything. */
  readonly customer: CloudKeys;
  /** Keys for assuming roles. */
  readonly operator: CloudKeys;
  /** Lets a role be assumed, by who knows the external id. */
  trust(roleArn: string, externalId: string): void;
  /** All sessions of roles are over. */
  expireSessions(): void;
  /** Says of the text of each event whether, and how, requests with it are refused. */
  refuses: (text: string) => Extract<Fault, { status: number }> | undefined;
  /** Streams and log groups that are not there, by name; all others are. */
  readonly missing: Set<string>;
  /** What was written to each log stream, by `<group>:<stream>`. */
  readonly logStreams: Map<string, string[]>;
  /** By how much its clock is ahead of this machine's; milliseconds. */
  skew: number;
  /** How many connections were made to it. */
  readonly connections: number;
  close(): Promise<void>;
}

/**
 * Listens on a free port of 127.0.0.1.
 * @param ca its certificate is issued by it.
 * @param names of hosts that the certificate is for besides `localhost`.
 */
export async function startAwsCloud({ ca, names = [] }: { ca: Issuer; names?: string[] }): Promise<AwsCloud> {
  const identity = await ca.issue({ subject: 'CN=cloud', dns: ['localhost', ...names], purpose: 'server' });
  const sockets = new Set<Socket>();
  const scripts = new Map<AwsService, Fault[]>();
  const waiting: ((request: AwsRequest) => void)[] = [];
  const now = () => Date.now() + cloud.skew;
  const guard = new Guard(now);
  const state: CloudState = {
    missing: new Set(),
    taken: { firehose: [], kinesis: [], logs: [], sts: [] },
    logStreams: new Map(),
    roles: new Map(),
    newSession: () => guard.issue('ASIA', true),
    now,
  };
  const customer = guard.issue('AKIA');
  const operator = guard.issue('AKIA');
  let connections = 0;

  const server = createServer(identity, async (request, response) => {
    response.sendDate = false;
    response.setHeader('Date', new Date(now()).toUTCString());
    const body = await bodyOf(request).catch(() => undefined);
    if (!body) return;
    const signed: SignedRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body,
    };
    let service: AwsService | undefined;
    try {
      const scope = scopeOf(request.headers);
      service = scope.service;
      const seen = seenOf(request, scope, body);
      cloud.requests.push(seen);
      for (const resolve of waiting.splice(0)) resolve(seen);
      const fault = scripts.get(service)?.shift() ?? 'pass';
      // TLS has its own socket upon that of the connection.
      const reset = () => [...sockets].find(({ remotePort }) => remotePort === seen.port)?.resetAndDestroy();
      const isServed = fault === 'pass' || fault === 'lost' || (typeof fault === 'object' && 'partial' in fault);
      if (!isServed) return fail(fault, service, response, reset);
      const [refusal] = textsOf(seen.body).flatMap((text) => cloud.refuses(text) ?? []);
      if (refusal) return fail(refusal, service, response, reset);
      guard.check(scope, signed);
      const served = serve(service, seen.operation, seen.body, state, fault);
      if (fault === 'lost') reset();
      else answer(response, 200, service, served);
    } catch (error) {
      refuse(
        response,
        service,
        error instanceof CloudError ? error : new CloudError(500, 'InternalFailure', String(error)),
      );
    }
  });
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });

  const cloud: AwsCloud = {
    url: () => `https://localhost:${cloud.port}`,
    get port() {
      return (server.address() as AddressInfo).port;
    },
    requests: [],
    script: (service, faults) => scripts.set(service, [...faults]),
    arrives: () => new Promise((resolve) => waiting.push(resolve)),
    records: (service) => state.taken[service],
    customer,
    operator,
    trust: (roleArn, externalId) => state.roles.set(roleArn, externalId),
    expireSessions: () => guard.expireSessions(),
    refuses: () => undefined,
    missing: state.missing,
    logStreams: state.logStreams,
    skew: 0,
    get connections() {
      return connections;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return cloud;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await request.toArray());
}

function seenOf(request: IncomingMessage, scope: Scope, bytes: Buffer): AwsRequest {
  const { headers, httpVersion, socket } = request;
  const isSts = scope.service === 'sts';
  const body = (
    isSts ? Object.fromEntries(new URLSearchParams(bytes.toString())) : JSON.parse(bytes.toString())
  ) as AwsBody;
  const operation = (isSts ? body.Action : String(headers['x-amz-target']).split('.')[1]) ?? '';
  return { ...scope, operation, httpVersion, headers, body, port: socket.remotePort ?? 0 };
}

function textsOf({ Records = [], logEvents = [] }: AwsBody): string[] {
  return [...Records.map(({ Data }) => Buffer.from(Data, 'base64').toString()), ...logEvents.map((one) => one.message)];
}

type Failing = Exclude<Fault, 'pass' | 'lost' | { partial: number[] }>;

function fail(fault: Failing, service: AwsService, response: ServerResponse, reset: () => void): void {
  if (fault === 'blackHole') return;
  if (fault === 'reset') {
    reset();
  } else if (fault === 'stall') {
    response.writeHead(200, { 'Content-Length': '100' }).flushHeaders();
  } else if ('answer' in fault) {
    answer(response, 200, service, fault.answer);
  } else {
    const { status, code, message, headers = {} } = fault;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (code) refuse(response, service, new CloudError(status, code, message));
    else response.writeHead(status, { 'Content-Type': 'text/html' }).end('<html>Something is in the way.</html>');
  }
}

function refuse(
  response: ServerResponse,
  service: AwsService | undefined,
  { status, code, message }: CloudError,
): void {
  const text = message.replace(/[<>&]/g, ' ');
  const xml = `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${text}</Message></Error></ErrorResponse>`;
  answer(response, status, service, service === 'sts' ? xml : { __type: code, message });
}

function answer(response: ServerResponse, status: number, service: AwsService | undefined, body: unknown): void {
  response.writeHead(status, { 'Content-Type': service === 'sts' ? 'text/xml' : 'application/x-amz-json-1.1' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
