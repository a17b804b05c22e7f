// A receiver of webhooks that remembers what it took, and answers as a function of the test says.

import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface Taken {
  event_id: string;
  event_type: string;
  account_id: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
  object: any;
  /** When it came; milliseconds, monotonic. */
  at: number;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** Every event that was taken, as often as it was. */
  readonly taken: Taken[];
  /** How many requests have come, whatever became of them. */
  readonly requests: number;
  /** The status of the answer to a request, from now on; 204 unless told otherwise. */
  answer: (ids: string[]) => number | Promise<number>;
  /** Resolves when the condition holds, which is asked after each request that comes or is answered. */
  until(condition: () => boolean): Promise<void>;
  close(): Promise<void>;
}

/** @param port 0 for any. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const told = new EventEmitter().setMaxListeners(0);
  const taken: Taken[] = [];
  let requests = 0;
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const events = (await json(request)) as Taken[];
    requests++;
    const answer = receiver.answer(events.map((event) => event.event_id));
    told.emit('change');
    const status = await answer;
    if (status < 300) taken.push(...events.map((event) => ({ ...event, at: performance.now() })));
    response.writeHead(status).end();
    told.emit('change');
  };
  const server = createServer((request, response) => void take(request, response).catch(() => response.destroy()));
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const { port: bound } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${bound}/`,
    port: bound,
    taken,
    get requests() {
      return requests;
    },
    answer: () => 204,
    async until(condition) {
      while (!condition()) await once(told, 'change');
    },
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return receiver;
}

/** Each event once, in the order in which they came first. */
export function distinct(taken: readonly Taken[]): Taken[] {
  return [...new Map([...taken].reverse().map((event) => [event.event_id, event])).values()].reverse();
}

/** What a test wrote into the objects: their numbers, in the order in which they came first. */
export function numbers(taken: readonly Taken[]): number[] {
  return distinct(taken).map(({ object }) => Number(object.description));
}
