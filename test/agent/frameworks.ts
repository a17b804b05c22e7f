// A service that checks the names by which it is asked as these do: the development server of webpack, a Django application, and a WebDAV
// server. Each knows its own address alone.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

export interface Frameworks {
  /** `localhost:…` */
  at: string;
  /** Tells the pages of webpack's server that there is something new. */
  rebuild(): void;
  close(): void;
}

export async function startFrameworks(): Promise<Frameworks> {
  const files = new Map([['/dav/a.txt', 'a file']]);
  const server = createServer((request, response) => {
    const { url = '' } = request;
    if (url.startsWith('/dav/')) dav(files, at, request, response);
    else if (url.startsWith('/django/')) django(at, request, response);
    else webpack(at, request, response);
  });
  const pages = new WebSocketServer({ server, path: '/ws' });
  pages.on('connection', (page, { headers: { host, origin } }) => {
    // The hosts of both have to be known to it (webpack-dev-server: `allowedHosts`, "auto").
    const isKnown = host === at && origin === `http://${at}`;
    page.send(JSON.stringify(isKnown ? { type: 'hot' } : { type: 'error', data: 'Invalid Host/Origin header' }));
    if (!isKnown) page.close();
  });
  await once(server.listen(0, 'localhost'), 'listening');
  const at = `localhost:${(server.address() as AddressInfo).port}`;
  return {
    at,
    rebuild() {
      for (const page of pages.clients) page.send(JSON.stringify({ type: 'invalid' }));
    },
    close() {
      for (const page of pages.clients) page.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
}

function webpack(at: string, { headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.host === at) return void response.end('the bundle');
  response.statusCode = 403;
  response.end('Invalid Host header');
}

/** `ALLOWED_HOSTS` and the CSRF check of `Origin`, whose host has to be that of the request; its redirects are absolute. */
function django(at: string, { headers, method, url }: IncomingMessage, response: ServerResponse): void {
  if (headers.host !== at) return void response.writeHead(400).end('<title>DisallowedHost at /</title>');
  if (method === 'GET')
    return void response.writeHead(302, { location: `http://${at}/django/login/?next=${url}` }).end();
  if (headers.origin !== `http://${headers.host}`) return void response.writeHead(403).end('CSRF verification failed');
  response.end('signed in');
}

/** RFC 4918, section 9.9: a destination at another server is 502. */
function dav(files: Map<string, string>, at: string, request: IncomingMessage, response: ServerResponse): void {
  const { method, url = '', headers } = request;
  const file = files.get(url);
  if (file === undefined) return void response.writeHead(404).end();
  if (method === 'GET') return void response.end(file);
  const destination = new URL(String(headers.destination));
  if (destination.host !== at) return void response.writeHead(502).end();
  files.delete(url);
  files.set(destination.pathname, file);
  response.writeHead(201, { location: destination.href }).end();
}
