// A receiver of webhooks on plain HTTP, which answers as it is told, and a way to wait for what delivery says of itself.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Subscription } from '../gateway/sse.ts';

export interface Webhook {
  url: string;
  /** The ids of the events of each request, in order. */
  readonly requests: string[][];
  /** The types of all events. */
  readonly types: string[];
  /** What is answered from now on: a status, or when something resolves. */
  answer: number | Promise<unknown>;
  /** Resolves when the next request has arrived. */
  arrives(): Promise<unknown>;
  close(): Promise<void>;
}

export async function startWebhook(): Promise<Webhook> {
  const server = createServer((request, response) => void take(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const webhook: Webhook = {
    url: `http://127.0.0.1:${port}/`,
    requests: [],
    types: [],
    answer: 204,
    arrives: () => once(server, 'taken'),
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const events = (await json(request)) as { event_id: string; event_type: string }[];
    webhook.requests.push(events.map((event) => event.event_id));
    webhook.types.push(...events.map((event) => event.event_type));
    const { answer } = webhook;
    server.emit('taken');
    if (typeof answer !== 'number') await answer;
    response.writeHead(typeof answer === 'number' ? answer : 204).end();
  }
  return webhook;
}

/** Reads a subscription to `eventDeliveryChanged` until what it tells passes a test. */
// biome-ignore lint/suspicious/noExplicitAny: the JSON of an event, which assertions look into.
export async function delivery(stream: Subscription, test: (delivery: any) => boolean): Promise<any> {
  for (;;) {
    const told = (await stream.next())?.data?.eventDeliveryChanged;
    if (!told) throw new Error('the subscription ended');
    if (test(told)) return told;
  }
}
