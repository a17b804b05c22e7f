// Whatever a visitor sends: through a policy that adds a field it arrives as without one, and so does the answer.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Peer, startScript } from '../../edge/http1/support.ts';
import { type HandledLab, onRequest, onResponse, readsBodies, startLab } from './lab.ts';

let lab: HandledLab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab?.close());

const FIELD = { headers: { 'x-added': 'yes' } };
const ADDS = { ...onRequest('add-headers', FIELD), ...onResponse('add-headers', FIELD) };
const READS = { ...ADDS, on_http_request: [...readsBodies.on_http_request, ...ADDS.on_http_request] };

const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const inPath = visible.filter((char) => !'#'.includes(char));
const value = fc
  .string({ unit: fc.oneof(visible, fc.constantFrom(' ', '\t', '\xe4', '\xff')), maxLength: 30 })
  .map((text) => text.trim().replaceAll('end', ''));
const fields = fc.array(
  fc.tuple(
    fc.stringMatching(/^[a-zA-Z!~*'-]{1,8}$/).map((name) => `p-${name}`),
    value,
  ),
  { maxLength: 6 },
);
const body = fc.option(
  fc.record({
    parts: fc.array(fc.string({ unit: fc.constantFrom('a', '\r', '\n', '0', '\xff'), minLength: 1, maxLength: 50 }), {
      maxLength: 4,
    }),
    isChunked: fc.boolean(),
    trailer: fc.boolean(),
  }),
  { nil: undefined },
);
const message = fc.record({ fields, body, cuts: fc.array(fc.nat(600), { maxLength: 3 }) });
const request = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'OPTIONS', 'M-SEARCH'),
  path: fc.string({ unit: inPath, maxLength: 20 }).map((rest) => `/${rest}`),
  status: fc.constantFrom(200, 201, 302, 404, 500, 299),
  sent: message,
  answered: message,
});

type Message = typeof message extends fc.Arbitrary<infer T> ? T : never;

function textOf(start: string, { fields, body }: Message): string {
  const lines = [start, ...fields.map(([name, text]) => `${name}: ${text}`)];
  const { parts = [], isChunked = false, trailer = false } = body ?? {};
  const all = parts.join('');
  if (!isChunked) return [...lines, `Content-Length: ${all.length}`, '', all].join('\r\n');
  const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
  return [...lines, 'Transfer-Encoding: chunked', '', `${chunks}0`, ...(trailer ? ['p-t: x'] : []), '', ''].join(
    '\r\n',
  );
}

async function sendCut(peer: Peer, text: string, cuts: number[]): Promise<void> {
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    if (cut <= from || cut >= text.length) continue;
    peer.send(text.slice(from, cut));
    from = cut;
    await new Promise(setImmediate);
  }
  peer.send(text.slice(from));
}

/** What a name has to say, without the fields that differ between names and visits. */
const plain = (text: string) =>
  text.replace(/^(?:host|x-forwarded-\w+): .*\r\n/gim, '').replace(/^connection: .*\r\n/gim, '');

/** What a peer gets until the message is complete: head and body as they came. */
async function whole(peer: Peer): Promise<string> {
  const isWhole = (text: string) => {
    const end = text.indexOf('\r\n\r\n') + 4;
    if (end < 4) return false;
    const [, length] = /^content-length: (\d+)/im.exec(text.slice(0, end)) ?? [];
    if (length !== undefined) return text.length >= end + Number(length);
    return /(?:^|\r\n)0\r\n(?:p-t: x\r\n)?\r\n$/.test(text.slice(end));
  };
  await peer.until(isWhole);
  return plain(peer.take());
}

test('requests and answers go through a policy as they go without, and have its field', async () => {
  const script = await startScript();
  const hosts = [
    await lab.open(script.port, null),
    await lab.open(script.port, ADDS),
    await lab.open(script.port, READS),
  ];
  const pairs = await Promise.all(hosts.map(async (host) => ({ host, visitor: await lab.visitor() })));
  const upstreams: (Peer | undefined)[] = [];
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, status, sent, answered }) => {
      const seen: { request: string; answer: string }[] = [];
      for (const [at, { host, visitor }] of pairs.entries()) {
        await sendCut(visitor, textOf(`${method} ${path} HTTP/1.1\r\nHost: ${host}`, sent), sent.cuts);
        // The stream to upstream is kept from one request to the next.
        upstreams[at] ??= await script.next();
        const upstream = upstreams[at];
        const request = await whole(upstream);
        await sendCut(upstream, textOf(`HTTP/1.1 ${status} `, answered), answered.cuts);
        seen.push({ request, answer: await whole(visitor) });
      }
      const [without, ...others] = seen;
      for (const { request, answer } of others) {
        expect(request).toContain('\r\nx-added: yes\r\n');
        expect(request.replace('x-added: yes\r\n', '')).toBe(without?.request);
        expect(answer).toContain('\r\nx-added: yes\r\n');
        expect(answer.replace('x-added: yes\r\n', '').replace(/^(HTTP\/1.1 \d+ ).*/, '$1')).toBe(without?.answer);
      }
    }),
    { numRuns: 100 },
  );
});
