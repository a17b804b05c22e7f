// Requests of which two servers could have two ideas, each with a second request hidden in it, on both listeners. What the
// gateway takes for one request has to be one for the service behind it.

import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Attack, Counts } from '../attack.ts';
import { publish, type TenantService } from '../tenant-service.ts';

const PER_SECOND = 50;
const OPEN_MAX = 40;
const SECRET = '/smuggled';

type Ambiguous = (name: string) => string;

const hidden: Ambiguous = (name) => `GET ${SECRET} HTTP/1.1\r\nHost: ${name}\r\n\r\n`;
const post = (fields: string, body: Ambiguous): Ambiguous => {
  return (name) => `POST / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n${fields}\r\n${body(name)}`;
};
const last: Ambiguous = (name) => `0\r\n\r\n${hidden(name)}`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
/** Chunks that begin in an odd way, and the hidden request where one reading has the end. */
const chunks = (text: string): Ambiguous => post(CHUNKED, (name) => text + last(name));
const stated = (fields: (length: number) => string, body: Ambiguous): Ambiguous => {
  return (name) => post(fields(body(name).length), body)(name);
};

const table: readonly Ambiguous[] = [
  stated((length) => `Content-Length: ${length}\r\n${CHUNKED}`, last),
  stated((length) => `${CHUNKED}Content-Length: ${length}\r\n`, last),
  stated((length) => `Content-Length: 0\r\nContent-Length: ${length}\r\n`, hidden),
  stated((length) => `Content-Length: 0, ${length}\r\n`, hidden),
  stated((length) => `Content-Length: ${length}\r\nTransfer_Encoding: chunked\r\n`, last),
  stated((length) => `Content_Length: 0\r\nContent-Length: ${length}\r\n`, hidden),
  stated((length) => `Content-Length: ${length}\r\nConnection: content-length\r\n`, hidden),
  ...['+0', '-0', '0x0', ' ', '0 0', '00000000000000000000000'].map((n) => post(`Content-Length: ${n}\r\n`, hidden)),
  ...[
    'xchunked',
    'chunked, identity',
    'identity, chunked',
    '"chunked"',
    'chunked;a',
    '\x0bchunked',
    'chunked\r\n ',
  ].map((coding) => stated((length) => `Transfer-Encoding: ${coding}\r\nContent-Length: ${length}\r\n`, last)),
  stated((length) => `Transfer-Encoding : chunked\r\nContent-Length: ${length}\r\n`, last),
  stated((length) => `Transfer-Encoding\t: chunked\r\nContent-Length: ${length}\r\n`, last),
  stated((length) => `A: b\nTransfer-Encoding: chunked\r\nContent-Length: ${length}\r\n`, last),
  stated((length) => `A: b\rTransfer-Encoding: chunked\r\nContent-Length: ${length}\r\n`, last),
  post(`${CHUNKED}${CHUNKED}`, last),
  // What ends a chunk's line, its extension, its data, its trailer.
  ...['5;\nhello\r\n', '5;a\nhello\r\n', '5;a\rb\r\nhello\r\n', '5\nhello\r\n', '5\rhello\r\n'].map(chunks),
  ...['5\r\nhello\n', '5\r\nhello', '4\r\nhello\r\n', '5 a\r\nhello\r\n', '10000000000000005\r\nhello\r\n'].map(chunks),
  ...['5;a="\r\n', '5;a="\n', '5;\0\r\nhello\r\n', '+5\r\nhello\r\n', '0x5\r\nhello\r\n', '\r\n'].map(chunks),
  post(CHUNKED, (name) => `0\r\nContent-Length: 60\r\n\r\n${hidden(name)}`),
  post(CHUNKED, (name) => `0\r\nA: b\n\r\n${hidden(name)}`),
  // Taken, as one request: what is hidden is data.
  post(CHUNKED, (name) => `${hidden(name).length.toString(16)};a="0";b\r\n${hidden(name)}\r\n0\r\n\r\n`),
  post(CHUNKED, (name) => `5;a\r\nhello\r\n0;b\r\n\r\n${hidden(name)}`),
];

export const attack: Attack = {
  name: 'D18 ambiguous heads and bodies',
  async prepare(target) {
    const counts: Counts = { sent: 0, refused: 0, taken: 0, cut: 0, smuggled: 0 };
    const service = createServer((request, response) => {
      if (request.url === SECRET) count(counts, 'smuggled');
      request.on('error', () => {}).resume();
      request.on('end', () => response.end('ok'));
    });
    const tenant = await publish(target, service, 'smuggling');
    return (_target, signal) => attackService(tenant, counts, signal);
  },
};

async function attackService(tenant: TenantService, counts: Counts, signal: AbortSignal): Promise<Counts> {
  const open = new Set<Promise<void>>();
  for (let turn = 0; !signal.aborted; turn++) {
    const listener = turn % 2 === 0 ? 'http' : 'https';
    const bytes = (table[(turn >> 1) % table.length] as Ambiguous)(tenant.names[listener]);
    const visit: Promise<void> = tenant.say(listener, bytes).then((text) => {
      open.delete(visit);
      count(counts, text.startsWith('HTTP/1.1 2') ? 'taken' : /^HTTP\/1\.1 4/.test(text) ? 'refused' : 'cut');
    });
    open.add(visit);
    count(counts, 'sent');
    if (open.size >= OPEN_MAX) await Promise.race(open);
    await pause(1000 / PER_SECOND, undefined, { signal }).catch(() => {});
  }
  await Promise.all(open);
  await tenant.close();
  if (counts.smuggled) throw new Error(`${counts.smuggled} hidden requests reached the service`);
  return counts;
}

function count(counts: Counts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
