// GraphiQL: a page of 9 MB that works without the internet. It is made when somebody first opens it, and kept once.

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Worker } from 'node:worker_threads';
import type { ApiExchange } from '../exchange.ts';
import { type CachedBody, createCachedBody, sendCached } from '../http/cached-body.ts';
import { sendError } from '../http/responses.ts';

interface GraphiqlPage {
  cachedBody: CachedBody;
  policy: string;
}

/** Whether somebody opens the page, rather than sending an operation. */
export function requestsGraphiql({ method, headers }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && /\btext\/html\b/i.test(headers.accept ?? '');
}

/** Answers with the page. */
export function createGraphiqlPage(): (exchange: ApiExchange) => void {
  let page: Promise<GraphiqlPage> | undefined;
  return (exchange) => {
    page ??= makePage();
    page.then(
      ({ cachedBody, policy }) => {
        const { response } = exchange;
        if (response.destroyed) return;
        response.setHeader('Content-Security-Policy', policy);
        response.setHeader('Referrer-Policy', 'no-referrer');
        response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
        response.appendHeader('Vary', 'Accept');
        sendCached(response, cachedBody, 'no-cache');
      },
      (error) => {
        page = undefined;
        sendError(exchange, error);
      },
    );
  };
}

async function makePage(): Promise<GraphiqlPage> {
  const worker = new Worker(new URL('./graphiql-page.js', import.meta.url));
  worker.unref(); // Nobody waits for it when the gateway stops.
  const [{ bytes, policy }] = (await once(worker, 'message')) as [{ bytes: Uint8Array; policy: string }];
  const { buffer, byteOffset, byteLength } = bytes;
  return {
    cachedBody: await createCachedBody('text/html; charset=utf-8', Buffer.from(buffer, byteOffset, byteLength)),
    policy,
  };
}
