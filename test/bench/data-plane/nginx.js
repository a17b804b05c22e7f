// nginx, with one worker: as the origin of all paths, and as the reverse proxy that the gateway is held against.

import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DOWN_BYTES, PAGE_BYTES, SMALL, UP_BYTES } from './cases.js';
import { find, freePort, launch } from './processes.js';

/** A connection is not closed for having carried many requests: how often that happens is not what is compared. */
const FOREVER = 'keepalive_requests 1000000000; keepalive_timeout 1h;';
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/**
 * Starts an origin.
 * @param {string} directory an empty one of its own.
 * @returns {Promise<{ process: import('node:child_process').ChildProcess, port: number } | undefined>} nothing where
 *   nginx is not installed.
 */
export function startOrigin(directory) {
  return start(directory, (port) => {
    const files = join(directory, 'files');
    mkdirSync(files, { recursive: true });
    writeFileSync(join(files, 'page'), Buffer.alloc(PAGE_BYTES, 'x'));
    // A hole of that size: it is read like any file, and takes no disk.
    writeFileSync(join(files, 'large'), '');
    truncateSync(join(files, 'large'), DOWN_BYTES);
    return `
    sendfile on; tcp_nopush on; open_file_cache max=16;
    server {
      listen 127.0.0.1:${port} backlog=4096;
      location = /small { return 200 '${SMALL.replace('\n', '\\n')}'; }
      location / { root ${files}; }
      # The whole body is in memory before the question goes on, and the answer comes: else it would be given at once.
      location = /up {
        client_max_body_size 0; client_body_buffer_size ${UP_BYTES + 1024};
        proxy_pass_request_body off; proxy_set_header Content-Length '';
        proxy_pass http://127.0.0.1:${port}/small;
      }
    }`;
  });
}

/**
 * Starts a reverse proxy. It sets what the gateway sets, keeps connections to the origin, and hands bodies on as they
 * come, as the gateway does.
 * @param {string} directory an empty one of its own.
 * @param {number} origin
 * @param {string | undefined} identity a file with a certificate and its key, for TLS.
 */
export async function startProxy(directory, origin, identity) {
  const tlsPort = identity ? await freePort() : undefined;
  const started = await start(
    directory,
    (port) => `
    upstream origin { server 127.0.0.1:${origin}; keepalive 128; ${FOREVER} }
    server {
      listen 127.0.0.1:${port} backlog=4096;
      ${tlsPort ? `listen 127.0.0.1:${tlsPort} ssl http2 backlog=4096;` : ''}
      ${tlsPort ? `ssl_certificate ${identity}; ssl_certificate_key ${identity};` : ''}
      location / {
        proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection '';
        proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr;
        proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Host $http_host;
        client_max_body_size 0; proxy_request_buffering off; proxy_max_temp_file_size 0;
      }
    }`,
  );
  return started && { ...started, tlsPort };
}

/** @param {string} directory @param {(port: number) => string} servers */
async function start(directory, servers) {
  const nginx = find('nginx');
  if (!nginx) return undefined;
  mkdirSync(directory, { recursive: true });
  const port = await freePort();
  const file = join(directory, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; worker_processes 1; pid ${directory}/pid; error_log stderr warn;
  ${process.getuid?.() === 0 ? 'user root;' : ''}
  events { worker_connections 4096; }
  http {
    access_log off; default_type text/plain; ${FOREVER}
    ${TEMPORARY.map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}
    ${servers(port)}
  }\n`,
  );
  const args = ['-p', directory, '-e', 'stderr', '-c', file];
  const child = await launch(nginx, args, { logFile: join(directory, 'log'), until: port });
  return { process: child.process, port };
}
