// HAProxy, with one thread, as a reverse proxy that the gateway is held against.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { find, freePort, launch } from './processes.js';

/**
 * Starts a reverse proxy, which keeps connections to the origin, and hands bodies on as they come.
 * @param {string} directory an empty one of its own.
 * @param {number} origin
 * @param {string | undefined} identity a file with a certificate and its key, for TLS.
 * @returns {Promise<{ process: import('node:child_process').ChildProcess, port: number, tlsPort: number | undefined } |
 *   undefined>} nothing where HAProxy is not installed.
 */
export async function startHaproxy(directory, origin, identity) {
  const haproxy = find('haproxy');
  if (!haproxy) return undefined;
  mkdirSync(directory, { recursive: true });
  const port = await freePort();
  const tlsPort = identity ? await freePort() : undefined;
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(
    file,
    `global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout connect 5s
  timeout client 1h
  timeout server 1h
  option forwardfor
  http-reuse always
frontend visitors
  bind 127.0.0.1:${port}
  ${tlsPort ? `bind 127.0.0.1:${tlsPort} ssl crt ${identity} alpn h2,http/1.1` : ''}
  default_backend origin
backend origin
  server origin 127.0.0.1:${origin}
`,
  );
  const child = await launch(haproxy, ['-db', '-f', file], { logFile: join(directory, 'log'), until: port });
  return { process: child.process, port, tlsPort };
}
