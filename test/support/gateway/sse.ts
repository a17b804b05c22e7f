// A GraphQL subscription over server-sent events, as a browser's client has it.

import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';

export interface Subscription {
  /** The next event's `data`; null when the stream has ended. */
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of an event, which assertions look into.
  next(): Promise<any>;
  close(): void;
}

/** Resolves when the server has begun to answer. @throws when it refuses. */
export function subscribe(api: string, key: string, query: string, variables: object = {}): Promise<Subscription> {
  return openStream(api, { authorization: `Bearer ${key}`, 'content-type': 'application/json' }, { query, variables });
}

/** Why a stream ends, as `CODE ERR_GATEWAY_<n>`: the last that it tells; null when it ends without a reason. */
export async function endOf(stream: Subscription): Promise<string | null> {
  const last = await stream.next();
  if (last === null) return null;
  if (!last.errors || (await stream.next()) !== null) return 'it goes on';
  const { code, errorCode } = last.errors[0].extensions;
  return `${code} ${errorCode}`;
}

/** The same with headers and a body of one's own. */
export async function openStream(api: string, headers: OutgoingHttpHeaders, body: object): Promise<Subscription> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { method: 'POST', agent: false, headers: { ...headers, accept: 'text/event-stream' } } as const;
    const sent = request(`${api}/graphql`, options, resolve);
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
  if (!/event-stream/.test(response.headers['content-type'] ?? '')) {
    response.destroy();
    throw new Error(`no event stream: ${response.statusCode} ${response.headers['content-type']}`);
  }
  const events = read(response);
  return {
    next: async () => {
      const { value, done } = await events.next();
      return done ? null : value;
    },
    close: () => response.destroy(),
  };
}

export interface RawStream {
  /** Everything that came, once the response has ended. @throws when its connection was cut. */
  whole(): Promise<string>;
  /** Resolves when the text has come. */
  until(text: string): Promise<void>;
}

/** The bytes of a stream as they come, of a POST or a GET. */
export async function openRawStream(
  api: string,
  key: string,
  query: string,
  { method = 'POST', variables = {} }: { method?: 'GET' | 'POST'; variables?: object } = {},
): Promise<RawStream> {
  const isPost = method === 'POST';
  const search = new URLSearchParams({ query, variables: JSON.stringify(variables) });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const type = isPost ? { 'content-type': 'application/json' } : {};
    const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream', ...type };
    const sent = request(`${api}/graphql${isPost ? '' : `?${search}`}`, { method, agent: false, headers }, resolve);
    sent.on('error', reject);
    sent.end(isPost ? JSON.stringify({ query, variables }) : undefined);
  });
  let whole = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    whole += chunk;
  });
  const ended = once(response, 'end');
  ended.catch(() => {}); // Whoever waits for the end hears of it.
  return {
    async whole() {
      await ended;
      return whole;
    },
    async until(text) {
      while (!whole.includes(text)) await once(response, 'data');
    },
  };
}

/** An event with data; `id` is undefined where it has none. */
export interface StreamEvent {
  id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of an event, which assertions look into.
  data: any;
}

export interface EventStream {
  next(): Promise<StreamEvent>;
  close(): void;
}

/** A stream with the ids of its events. It listens when this resolves. @param lastEventId where to go on. */
export async function openEvents(
  api: string,
  key: string,
  operation: object,
  lastEventId?: string,
): Promise<EventStream> {
  const events: StreamEvent[] = [];
  const waiting: ((event: StreamEvent) => void)[] = [];
  let rest = '';
  const take = (text: string) => {
    const data = /^data: (.*)$/m.exec(text)?.[1];
    if (data === undefined) return;
    const event = { id: /^id: (.*)$/m.exec(text)?.[1], data: JSON.parse(data) };
    const next = waiting.shift();
    if (next) next(event);
    else events.push(event);
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    };
    const sent = request(`${api}/graphql`, { method: 'POST', agent: false, headers }, resolve);
    sent.on('error', reject).end(JSON.stringify(operation));
  });
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) take(part);
  });
  response.on('error', () => {});
  await once(response, 'data');
  return {
    next: async () => events.shift() ?? new Promise((resolve) => waiting.push(resolve)),
    close: () => response.destroy(),
  };
}

/** The `next` events of a stream (GraphQL over SSE, distinct connections mode), up to `complete` or the end. */
async function* read(response: IncomingMessage): AsyncGenerator<unknown> {
  let rest = '';
  for await (const chunk of response.setEncoding('utf8')) {
    // An event of a megabyte comes in many chunks: only where one ends is all that came looked at.
    const isEnd = chunk.includes('\n\n') || (chunk.startsWith('\n') && rest.endsWith('\n'));
    rest += chunk;
    if (!isEnd) continue;
    const parts = rest.split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const event = /^event: ?(\w+)$/m.exec(part)?.[1];
      const data = /^data: ?(.*)$/m.exec(part)?.[1];
      if (event === 'complete') return;
      if (event === 'next' && data) yield JSON.parse(data);
    }
  }
}
