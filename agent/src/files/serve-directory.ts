// Serves the files of a directory, read-only.

import { realpath } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { selectBytes } from './byte-range.ts';
import { contentTypeOf } from './content-types.ts';
import { directoryPage } from './directory-page.ts';
import { BadPath, namesIn, openInside } from './find-file.ts';

/** A directory to serve. */
export interface Directory {
  /** An absolute path. */
  path: string;
  /** Whether a directory without an index.html is shown as a list. */
  isListed: boolean;
}

/** The gateway keeps connections for its next visitors; this side is not the first to close one. */
const KEEP_ALIVE_MS = 75_000;

/** Creates the server, which does not listen yet. It answers GET and HEAD. */
export function createFileServer(directory: Directory): Server {
  const server = createServer((request, response) => {
    answer(request, response, directory).catch(() => {
      if (response.headersSent) response.destroy();
      else sendText(request, response, 500, 'The file cannot be read.');
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return server;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { path, isListed }: Directory,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return sendText(request, response, 405, 'Only GET and HEAD are allowed.');
  }
  const [, urlPath = '/', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(request.url ?? '') ?? [];
  const names = readNames(urlPath);
  if (names === null) return sendText(request, response, 400, 'The path must be percent-encoded UTF-8.');
  const root = await realpath(path);
  if (await sendFile(request, response, root, names, urlPath.endsWith('/'))) return;
  const found = await openInside(root, names);
  const isDirectory = (await found?.stat())?.isDirectory() ?? false;
  await found?.close();
  if (!isDirectory) return sendText(request, response, 404, 'Not found.');
  const own = `/${names.map((name) => `${encodeURIComponent(name)}/`).join('')}`;
  if (!urlPath.endsWith('/')) {
    response.setHeader('location', `${own}${query}`);
    return sendText(request, response, 301, `See ${own}`);
  }
  if (await sendFile(request, response, root, [...names, 'index.html'], false)) return;
  if (!isListed) return sendText(request, response, 404, 'Not found.');
  const page = await directoryPage(
    await realpath(join(root, ...names)),
    `/${names.map((name) => `${name}/`).join('')}`,
  );
  sendText(request, response, 200, page, 'text/html; charset=utf-8');
}

function readNames(path: string): string[] | null {
  try {
    return namesIn(path);
  } catch (error) {
    if (error instanceof BadPath) return null;
    throw error;
  }
}

/** @returns whether there is such a file, which is then sent. */
async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  root: string,
  names: string[],
  isDirectory: boolean,
): Promise<boolean> {
  const file = isDirectory ? null : await openInside(root, names);
  if (!file) return false;
  try {
    const stat = await file.stat({ bigint: true });
    if (!stat.isFile()) return false;
    const size = Number(stat.size);
    const modified = Math.floor(Number(stat.mtimeMs) / 1000);
    const etag = `"${stat.size.toString(16)}-${stat.mtimeNs.toString(16)}"`;
    const { status, first, last } = selectBytes(request.headers, { etag, modified, size });
    response.writeHead(status, {
      ...{ etag, 'last-modified': new Date(modified * 1000).toUTCString(), 'accept-ranges': 'bytes' },
      ...(status === 206 && { 'content-range': `bytes ${first}-${last}/${size}` }),
      ...(status === 416 && { 'content-range': `bytes */${size}` }),
      ...(status < 300
        ? {
            'content-type': contentTypeOf(names.at(-1) ?? ''),
            'content-length': last - first + 1,
            'x-content-type-options': 'nosniff',
          }
        : status !== 304 && { 'content-length': 0 }),
    });
    if (status >= 300 || request.method === 'HEAD' || last < first) {
      response.end();
      return true;
    }
    const reader = file.createReadStream({ start: first, end: last, autoClose: false });
    await pipeline(reader, response, { end: false });
    // A file that became shorter meanwhile: the visitor must see that something is missing.
    if (reader.bytesRead === last - first + 1) response.end();
    else response.destroy();
    return true;
  } finally {
    await file.close();
  }
}

function sendText(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string,
  type = 'text/plain; charset=utf-8',
): void {
  const body = Buffer.from(type.startsWith('text/html') ? text : `${text}\n`);
  response.writeHead(status, {
    'content-type': type,
    'content-length': body.length,
    'x-content-type-options': 'nosniff',
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
