// Clients of GraphQL over WebSockets: the library graphql-ws, and one that sends what it likes.

import { once } from 'node:events';
import { type Client, type ClientOptions, createClient, type ExecutionResult } from 'graphql-ws';
import { WebSocket } from 'ws';

export const addressOf = (api: string) => `${api.replace('http', 'ws')}/graphql`;

/** A client of the library, with an API key. */
export function clientOf(api: string, key: string, options: Partial<ClientOptions> = {}): Client {
  return createClient({
    url: addressOf(api),
    webSocketImpl: WebSocket,
    connectionParams: { Authorization: `Bearer ${key}` },
    lazy: true,
    ...options,
  });
}

export interface Results {
  /** The next result; null when the operation is complete. @throws what ends it otherwise. */
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of a result, which assertions look into.
  next(): Promise<any>;
  stop(): void;
}

/** Runs an operation, whose results are asked for one by one. */
export function run(client: Client, query: string, variables: Record<string, unknown> = {}): Results {
  const results = client.iterate({ query, variables });
  return {
    next: async () => {
      const { value, done } = await results.next();
      return done ? null : (value as ExecutionResult);
    },
    stop: () => void results.return?.(),
  };
}

export interface RawSocket {
  webSocket: WebSocket;
  send(message: object): void;
  /** The next message, whatever it is. */
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of a message, which assertions look into.
  next(): Promise<any>;
  /** Messages that came and that nobody asked for. */
  unread: unknown[];
  /** How it was closed: code and reason. */
  closed: Promise<[number, string]>;
}

/** A WebSocket that says nothing by itself. @param headers of its request. */
export async function openSocket(api: string, headers: Record<string, string> = {}): Promise<RawSocket> {
  const webSocket = new WebSocket(addressOf(api), 'graphql-transport-ws', { headers });
  const messages: unknown[] = [];
  const waiting: ((message: unknown) => void)[] = [];
  webSocket.on('message', (data) => {
    const message: unknown = JSON.parse(String(data));
    const take = waiting.shift();
    if (take) take(message);
    else messages.push(message);
  });
  const closed = once(webSocket, 'close').then(([code, reason]) => [code, String(reason)] as [number, string]);
  closed.catch(() => {}); // One that is refused is never open.
  await once(webSocket, 'open');
  return {
    webSocket,
    closed,
    send: (message) => webSocket.send(JSON.stringify(message)),
    unread: messages,
    next: async () => messages.shift() ?? new Promise((resolve) => waiting.push(resolve)),
  };
}

/** The same, when its caller was accepted. */
export async function openAs(api: string, key: string): Promise<RawSocket> {
  const socket = await openSocket(api);
  socket.send({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } });
  const answer = await socket.next();
  if (answer.type !== 'connection_ack') throw new Error(`no acknowledgement: ${JSON.stringify(answer)}`);
  return socket;
}
