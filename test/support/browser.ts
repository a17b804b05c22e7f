// The part of a browser that CORS is about: a page of one origin that asks another (Fetch standard, sections 3.2 and 4).

import { Agent } from 'node:http';
import { type Answer, send } from './gateway/http.ts';

const SIMPLE_METHODS = ['GET', 'HEAD', 'POST'];
const SIMPLE_HEADERS = ['accept', 'accept-language', 'content-language'];
const SIMPLE_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];
const ALWAYS_EXPOSED = ['cache-control', 'content-language', 'content-length', 'content-type', 'expires', 'pragma'];

export interface Page {
  /** As a page's script sees it. @throws when the browser would not let the request go, or the answer be read. */
  fetch(method: string, url: string, headers?: Record<string, string>, body?: string): Promise<Answer>;
  /** The preflights sent so far, and their answers. */
  preflights: Answer[];
  close(): void;
}

/** Opens a page of an origin. */
export function openPage(origin: string): Page {
  const agent = new Agent({ keepAlive: true });
  const preflights: Answer[] = [];
  const words = (text: string | undefined) => (text ?? '').split(',').map((word) => word.trim().toLowerCase());
  const admits = (answer: Answer) => ['*', origin].includes(answer.headers['access-control-allow-origin'] ?? '');

  return {
    preflights,
    close: () => agent.destroy(),
    async fetch(method, url, headers = {}, body) {
      const unsafe = Object.entries(headers).filter(
        ([name, value]) =>
          !SIMPLE_HEADERS.includes(name) &&
          !(name === 'content-type' && SIMPLE_TYPES.includes(value.split(';')[0] ?? '')),
      );
      if (!SIMPLE_METHODS.includes(method) || unsafe.length > 0) {
        const names = unsafe.map(([name]) => name).sort();
        const preflight = await send(agent, 'OPTIONS', url, {
          origin,
          'access-control-request-method': method,
          ...(names.length > 0 ? { 'access-control-request-headers': names.join(',') } : {}),
        });
        preflights.push(preflight);
        if (preflight.status < 200 || preflight.status > 299 || !admits(preflight))
          throw new Error('preflight refused');
        const methods = words(preflight.headers['access-control-allow-methods']);
        if (!SIMPLE_METHODS.includes(method) && !methods.includes(method.toLowerCase()))
          throw new Error(`${method} refused`);
        const allowed = words(preflight.headers['access-control-allow-headers']);
        // `*` never covers Authorization.
        const refused = names.find(
          (name) => !allowed.includes(name) && !(allowed.includes('*') && name !== 'authorization'),
        );
        if (refused) throw new Error(`header ${refused} refused`);
      }
      const answer = await send(agent, method, url, { ...headers, origin }, body);
      if (!admits(answer)) throw new Error('answer not readable');
      const exposed = [...ALWAYS_EXPOSED, ...words(answer.headers['access-control-expose-headers'])];
      return {
        ...answer,
        headers: Object.fromEntries(Object.entries(answer.headers).filter(([name]) => exposed.includes(name))),
      };
    },
  };
}
