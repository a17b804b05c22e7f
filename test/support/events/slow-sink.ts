// A webhook that takes its time, and knows what it got.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as later } from 'node:timers/promises';

export interface SlowSink {
  url: string;
  /** Ids by the number of the event. */
  received: Map<number, string>;
  twice: number;
  /** What must not be: events out of order, one number with two ids. */
  mistakes: string[];
  /** From now on, and for what is under way, nothing is taken. */
  refuse(): void;
  close(): void;
}

/** Starts it: a webhook for requests whose number is their path. @param answerMs how long it takes for each request. */
export async function startSlowSink(answerMs: number): Promise<SlowSink> {
  let isRefusing = false;
  let last = -1;
  const take = ({ event_id: id, object }: Received) => {
    const n = Number(object.http.request.url.path.slice(1));
    const known = sink.received.get(n);
    if (known !== undefined) sink.twice++;
    else if (n < last) sink.mistakes.push(`${n} after ${last}`);
    if (known !== undefined && known !== id) sink.mistakes.push(`${n} is ${known} and ${id}`);
    sink.received.set(n, id);
    last = Math.max(last, n);
  };
  const server = createServer(async (request, response) => {
    const events = (await json(request)) as Received[];
    await later(answerMs); // It is slow: that is what it is for.
    if (!isRefusing) for (const event of events) take(event);
    response.writeHead(isRefusing ? 503 : 204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sink: SlowSink = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received: new Map(),
    twice: 0,
    mistakes: [],
    refuse() {
      isRefusing = true;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return sink;
}

interface Received {
  event_id: string;
  object: { http: { request: { url: { path: string } } } };
}
