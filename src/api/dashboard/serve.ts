// Serves the files of the dashboard over HTTP. They are public; only its requests to the API need a session.

import type { ServerResponse } from 'node:http';
import type { ApiExchange } from '../exchange.ts';
import { sendCached } from '../http/cached-body.ts';
import { isLoopbackHost } from '../http/request-origin.ts';
import type { Dashboard, StoredFile } from './files.ts';

/** The path of the dashboard and the prefix of all its files. */
export const DASHBOARD_PATH = '/dashboard/';

const YEAR_SECONDS = 31_536_000;
const FOREVER = `public, max-age=${YEAR_SECONDS}, immutable`;
const NOT_BUILT = 'The dashboard has not been built: run `npm run build`, then start the gateway again.\n';
const NOT_FOUND = 'The dashboard has no such file.\n';

/**
 * Nothing from elsewhere, nothing inline, nothing to elsewhere; and no page around it that could lead a click astray.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/** Browser features that the dashboard does not use. */
const UNUSED_FEATURES = [
  ...['accelerometer', 'autoplay', 'browsing-topics', 'camera', 'display-capture', 'encrypted-media'],
  ...['fullscreen', 'gamepad', 'geolocation', 'gyroscope', 'hid', 'idle-detection', 'local-fonts', 'magnetometer'],
  ...['microphone', 'midi', 'payment', 'picture-in-picture', 'screen-wake-lock', 'serial'],
  ...['usb', 'window-management', 'xr-spatial-tracking'],
];

/** What passkeys need. */
const OWN_FEATURES = ['publickey-credentials-create', 'publickey-credentials-get'];

const HEADERS: Record<string, string> = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': [
    ...UNUSED_FEATURES.map((feature) => `${feature}=()`),
    ...OWN_FEATURES.map((feature) => `${feature}=(self)`),
  ].join(', '),
};

/** Whether a path belongs to the dashboard. */
export function isDashboardPath(path: string): boolean {
  return path.startsWith(DASHBOARD_PATH) || path === DASHBOARD_PATH.slice(0, -1);
}

/** Responds to a request for a path of the dashboard. */
export function serveDashboard({ files }: Dashboard, path: string, exchange: ApiExchange): void {
  const { request, response } = exchange;
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  // On loopback the header would force TLS on every other port of the machine as well.
  if (exchange.isSecure && !isLoopbackHost(request.headers.host ?? ''))
    response.setHeader('Strict-Transport-Security', `max-age=${YEAR_SECONDS}`);

  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    sendText(response, 405, 'Only GET and HEAD.\n');
  } else if (!path.startsWith(DASHBOARD_PATH)) {
    redirectToDashboard(exchange);
  } else if (!files.has('index.html')) {
    sendText(response, 404, NOT_BUILT);
  } else {
    const file = fileFor(files, path.slice(DASHBOARD_PATH.length));
    if (file) sendCached(response, file, file.isImmutable ? FOREVER : 'no-cache');
    else sendText(response, 404, NOT_FOUND);
  }
}

/** Redirects a browser to the dashboard. */
export function redirectToDashboard({ response }: ApiExchange): void {
  response.writeHead(302, { Location: DASHBOARD_PATH, 'Content-Length': 0, 'Cache-Control': 'no-cache' }).end();
}

/** The file for a path. Paths without an extension are the pages of the single-page app, which routes them itself. */
function fileFor(files: Dashboard['files'], name: string): StoredFile | undefined {
  const isPage = !name.startsWith('assets/') && !name.slice(name.lastIndexOf('/') + 1).includes('.');
  return files.get(isPage ? 'index.html' : name);
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      'Content-Type': 'text/plain; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
      'Cache-Control': 'no-store',
    })
    .end(text);
}
