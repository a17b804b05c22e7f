// A small dashboard with the layout of a real build, and requests that return the raw bytes of responses.

import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { type RequestOptions, request as secureRequest } from 'node:https';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { inject } from 'vitest';

export const PAGE =
  '<!doctype html><title>The dashboard</title><script type="module" src="/dashboard/assets/a.js"></script>';
export const SCRIPT = 'export const here = true;\n'.repeat(50);
export const ICON = '<svg xmlns="http://www.w3.org/2000/svg"/>';
export const PIXEL = Buffer.from('89504e470d0a1a0a', 'hex');

/** Writes the dashboard to a temporary directory, which is deleted after the test run. */
export async function builtDashboard(operations: Record<string, string> = {}): Promise<string> {
  const directory = await mkdtemp(join(inject('run'), 'dashboard-'));
  const texts = { 'index.html': PAGE, 'assets/a.js': SCRIPT, 'assets/icon.svg': ICON };
  const write = async (name: string, body: string | Buffer) => {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), body);
  };
  for (const [name, text] of Object.entries(texts)) {
    await write(name, text);
    await write(`${name}.br`, brotliCompressSync(text));
    await write(`${name}.gz`, gzipSync(text));
  }
  await write('assets/pixel.png', PIXEL);
  await write('operations.json', JSON.stringify(operations));
  await write('.stamp', 'made from');
  return directory;
}

export interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

/** Sends a request without normalizing its path, and returns the body without decoding it. */
export function receive(
  base: string,
  path: string,
  {
    method = 'GET',
    headers = {},
    tls = {},
  }: { method?: string; headers?: OutgoingHttpHeaders; tls?: RequestOptions } = {},
): Promise<Received> {
  const { protocol, hostname, port } = new URL(base);
  const options = { ...tls, host: hostname, port, path, method, headers, agent: false as const };
  return new Promise((resolve, reject) => {
    const send = protocol === 'https:' ? secureRequest : request;
    send(options, async (response) => {
      const { statusCode: status = 0, headers } = response;
      buffer(response).then((bytes) => resolve({ status, headers, bytes }), reject);
    })
      .on('error', reject)
      .end();
  });
}
