// A service of gRPC in all four kinds, and a client that calls each of them, as grpc-js has them. Messages are plain text.

import type { EventEmitter } from 'node:events';
import {
  type CallOptions,
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type ServiceError,
  type StatusObject,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { onTestFinished } from 'vitest';
import { eventually } from './eventually.ts';

const toBytes = (text: string) => Buffer.from(text);
const toText = (bytes: Buffer) => bytes.toString();
const method = (name: string, requestStream: boolean, responseStream: boolean) => ({
  path: `/test.Echo/${name}`,
  requestStream,
  responseStream,
  requestSerialize: toBytes,
  requestDeserialize: toText,
  responseSerialize: toBytes,
  responseDeserialize: toText,
});
const definition: ServiceDefinition = {
  say: method('Say', false, false),
  count: method('Count', false, true),
  join: method('Join', true, false),
  chat: method('Chat', true, true),
  fail: method('Fail', false, false),
  failLate: method('FailLate', false, true),
  hang: method('Hang', false, true),
};
const DETAILS = 'grpc-status-details-bin';

/** A service that calls it. */
export interface GrpcService {
  port: number;
  /** Calls of `Hang` that are under way. */
  hanging: Set<unknown>;
}

type Asked = ServerUnaryCall<string, string> & EventEmitter;
type Writing = ServerWritableStream<string, string>;
type Done = sendUnaryData<string>;

/** Serves without TLS ("prior knowledge"). Ends with the test. */
export async function startGrpcService(): Promise<GrpcService> {
  const hanging = new Set<unknown>();
  const failure = () => {
    const metadata = new Metadata();
    metadata.set(DETAILS, Buffer.from([8, 3, 0, 255]));
    metadata.set('retry-hint', 'never');
    return { code: status.FAILED_PRECONDITION, details: 'nöt now: 100 %', metadata };
  };
  const implementation: UntypedServiceImplementation = {
    say: (call: Asked, done: Done) => done(null, `re: ${call.request}`),
    count: (call: Writing) => {
      for (let i = 1; i <= Number(call.request); i++) call.write(String(i));
      call.end();
    },
    join: (call: Asked, done: Done) => {
      const parts: string[] = [];
      call.on('data', (part: string) => parts.push(part));
      call.on('end', () => done(null, parts.join('+')));
    },
    chat: (call: Writing) => {
      call.on('data', (message: string) => call.write(`re: ${message}`));
      call.on('end', () => call.end());
    },
    fail: (_: Asked, done: Done) => done(failure()),
    failLate: (call: Writing) => {
      call.write('first');
      call.emit('error', failure());
    },
    hang: (call: Writing) => {
      hanging.add(call);
      call.on('cancelled', () => hanging.delete(call));
      call.write('here');
    },
  };
  const server = new Server();
  server.addService(definition, implementation);
  onTestFinished(() => server.forceShutdown());
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return { port, hanging };
}

/** A client of a name at a gateway, connected. It ends with the test. */
export async function grpcClient(gateway: string, hostname: string, ca: string): Promise<Client> {
  const client = new Client(gateway, credentials.createSsl(Buffer.from(ca)), {
    'grpc.ssl_target_name_override': hostname,
    'grpc.default_authority': hostname,
    'grpc.enable_retries': 0,
  });
  onTestFinished(() => client.close());
  await new Promise<void>((resolve, reject) =>
    client.waitForReady(Date.now() + 30_000, (error) => (error ? reject(error) : resolve())),
  );
  return client;
}

/** What became of a call: its messages, and its status. */
export interface Outcome {
  messages: string[];
  code: number;
  details: string;
  /** Of the metadata at its end. */
  bytes: string | undefined;
  hint: string | undefined;
}

/** Calls a method, of whatever kind, with messages; one for each answer to the one before, where both sides stream. */
export function call(client: Client, name: string, messages: string[], options: CallOptions = {}): Promise<Outcome> {
  const { path, requestSerialize, responseDeserialize, requestStream, responseStream } = definition[name] ?? {
    ...method(name, false, false),
  };
  const got: string[] = [];
  return new Promise((resolve) => {
    let answer: string | undefined;
    const onEnd = (end: StatusObject | ServiceError) =>
      resolve({
        messages: answer === undefined ? got : [answer],
        code: end.code,
        details: end.details,
        bytes: (end.metadata.get(DETAILS)[0] as Buffer | undefined)?.toString('hex'),
        hint: end.metadata.get('retry-hint')[0] as string | undefined,
      });
    const onAnswer = (_: ServiceError | null, text?: string) => {
      answer = text;
    };
    const first = messages[0] ?? '';
    const to = [path, requestSerialize, responseDeserialize] as const;
    if (!requestStream && !responseStream)
      return void client.makeUnaryRequest(...to, first, new Metadata(), options, onAnswer).on('status', onEnd);
    if (!responseStream) {
      const stream = client.makeClientStreamRequest(...to, new Metadata(), options, onAnswer).on('status', onEnd);
      for (const message of messages) stream.write(message);
      return void stream.end();
    }
    const both = requestStream ? client.makeBidiStreamRequest(...to, new Metadata(), options) : undefined;
    const stream = both ?? client.makeServerStreamRequest(...to, first, new Metadata(), options);
    const rest = [...messages];
    const next = () => {
      const message = rest.shift();
      if (message === undefined) both?.end();
      else both?.write(message);
    };
    stream.on('data', (message: string) => {
      got.push(message);
      if (name === 'hang' && options.deadline === undefined) stream.cancel();
      next();
    });
    stream.on('error', () => {}); // The status tells of it.
    stream.on('status', onEnd);
    next();
  });
}

/** Calls all kinds, and says what became of each. */
export async function callAllKinds(client: Client, { hanging }: GrpcService): Promise<Record<string, Outcome>> {
  const outcomes = {
    unary: await call(client, 'say', ['hello']),
    'server streaming': await call(client, 'count', ['3']),
    'client streaming': await call(client, 'join', ['a', 'b', 'c']),
    'both streaming': await call(client, 'chat', ['one', 'two']),
    'an error at once': await call(client, 'fail', ['x']),
    'an error behind a message': await call(client, 'failLate', ['x']),
    unimplemented: await call(client, 'Nothing', ['x']),
    cancelled: await call(client, 'hang', ['x']),
    'beyond its deadline': await call(client, 'hang', ['x'], { deadline: Date.now() + 300 }),
  };
  await eventually(() => {
    if (hanging.size > 0) throw new Error('the service still works for calls that were given up');
  });
  return outcomes;
}

const ok = (...messages: string[]) => ({ messages, code: status.OK });
const failed = (...messages: string[]) => ({
  messages,
  code: status.FAILED_PRECONDITION,
  details: 'nöt now: 100 %',
  bytes: '080300ff',
  hint: 'never',
});

/** What has to become of them. */
export const ALL_KINDS = {
  unary: ok('re: hello'),
  'server streaming': ok('1', '2', '3'),
  'client streaming': ok('a+b+c'),
  'both streaming': ok('re: one', 're: two'),
  'an error at once': failed(),
  'an error behind a message': failed('first'),
  unimplemented: { messages: [], code: status.UNIMPLEMENTED },
  cancelled: { messages: ['here'], code: status.CANCELLED },
  'beyond its deadline': { messages: ['here'], code: status.DEADLINE_EXCEEDED },
};
