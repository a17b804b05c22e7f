// Answers of upstreams as nobody should give them, made from a seed, in the bytes of both protocols.

/** One answer. Whatever it says, the upstream ends it. */
export interface Nonsense {
  interims: { status: string; fields: Field[] }[];
  status: string;
  fields: Field[];
  body: Buffer;
  trailers: Field[];
  /** How the body is framed in HTTP/1, whatever the fields say. */
  framing: 'none' | 'length' | 'chunks' | 'wrong';
  isBroken: boolean;
}

type Field = [name: string, value: string];

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const STATUSES = [
  '200',
  '200',
  '204',
  '205',
  '206',
  '304',
  '404',
  '500',
  '599',
  '600',
  '799',
  '999',
  '099',
  '000',
  'abc',
];
const INTERIMS = ['100', '102', '103', '103', '104', '199', '101'];
const NAMES = [
  ...['content-type', 'content-length', 'content-encoding', 'etag', 'location', 'age', 'date', 'retry-after', 'link'],
  ...[
    'te',
    'connection',
    'keep-alive',
    'upgrade',
    'proxy-connection',
    'transfer-encoding',
    'http2-settings',
    'trailer',
  ],
  ...['set-cookie', 'vary', 'x-plain', 'x_under', 'X-Upper', 'host', 'cookie', '__proto__', 'constructor', 'expect'],
  ...[':status', ':path', '', 'with space', 'with\ttab', 'grün', 'x"quoted"', 'alt-svc', 'x-content-type-options'],
];
const VALUES = [
  ...['', 'plain', '0', '5', '-1', '1e3', '4, 5', 'trailers', 'gzip', 'close', 'close, te', 'keep-alive', 'chunked'],
  ...['</a.css>; rel=preload', '</b.js>; rel=preload; as=script', 'h2c', ' padded ', '\tx', 'x\x00y', 'x\ry', 'x\x7fy'],
  ...['caf\xe9', 'timeout=5', 'a=1; Path=/', ',', 'x'.repeat(3000), '"', 'multipart/byteranges; boundary=x', '☃'],
];

export function nonsenseOf(random: () => number): Nonsense {
  const below = (count: number) => Math.floor(random() * count);
  const one = (list: readonly string[]) => list[below(list.length)] as string;
  const fields = (most: number): Field[] => {
    const some = Array.from({ length: below(most + 1) }, (): Field => [one(NAMES), one(VALUES)]);
    // The same name again, often.
    return random() < 0.3 ? [...some, ...some.map(([name]): Field => [name, one(VALUES)])] : some;
  };
  const body = Buffer.alloc(random() < 0.4 ? 0 : below(random() < 0.1 ? 200_000 : 2000), 'x');
  const sane: Field[] = [
    ['Content-Type', 'text/plain'],
    ['X-Plain', 'sane'],
  ];
  return {
    interims: Array.from({ length: random() < 0.5 ? 0 : below(4) }, () => ({
      status: one(INTERIMS),
      fields:
        random() < 0.5
          ? [
              ['Link', one(VALUES)],
              ['Link', one(VALUES)],
            ]
          : fields(3),
    })),
    status: one(STATUSES),
    fields: random() < 0.3 ? sane : fields(random() < 0.03 ? 300 : 5),
    body,
    trailers: random() < 0.6 ? [] : fields(4),
    framing: (['none', 'length', 'chunks', 'wrong'] as const)[below(4)] as Nonsense['framing'],
    isBroken: random() < 0.1,
  };
}

/** As HTTP/1.1: the connection is to be closed after it. */
export function asHttp1({ interims, status, fields, body, trailers, framing }: Nonsense): Buffer {
  const lines = (list: readonly Field[]) => list.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const before = interims.map((interim) => `HTTP/1.1 ${interim.status} Interim\r\n${lines(interim.fields)}\r\n`);
  const stated: Record<Nonsense['framing'], string> = {
    none: '',
    length: `Content-Length: ${body.length}\r\n`,
    chunks: 'Transfer-Encoding: chunked\r\n',
    wrong: `Content-Length: ${body.length + 7}\r\n`,
  };
  const head = `${before.join('')}HTTP/1.1 ${status} Final\r\n${lines(fields)}${stated[framing]}\r\n`;
  if (framing !== 'chunks') return Buffer.concat([latin(head), body]);
  const chunk = body.length > 0 ? [latin(`${body.length.toString(16)}\r\n`), body, latin('\r\n')] : [];
  return Buffer.concat([latin(head), ...chunk, latin(`0\r\n${lines(trailers)}\r\n`)]);
}

const HEADERS = 1;
const CONTINUATION = 9;
const RST_STREAM = 3;
const END_STREAM = 1;
const END_HEADERS = 4;
const FRAME_MAX = 16_000;

/** As the frames of HTTP/2 on a stream. */
export function asHttp2({ interims, status, fields, body, trailers, framing, isBroken }: Nonsense, id: number): Buffer {
  const head = [[':status', status] as Field, ...fields];
  if (framing === 'length') head.push(['content-length', String(body.length)]);
  if (framing === 'wrong') head.push(['content-length', String(body.length + 7)]);
  const sent = body.subarray(0, 60_000); // As much as any window allows at first.
  const frames = interims.map((interim) => headers(id, [[':status', interim.status], ...interim.fields], 0));
  const hasMore = sent.length > 0 || trailers.length > 0 || isBroken;
  frames.push(headers(id, head, hasMore ? 0 : END_STREAM));
  for (let at = 0; at < sent.length; at += FRAME_MAX) {
    const piece = sent.subarray(at, at + FRAME_MAX);
    const isLast = at + FRAME_MAX >= sent.length && trailers.length === 0 && !isBroken;
    frames.push(frame(0, isLast ? END_STREAM : 0, id, piece));
  }
  if (isBroken) frames.push(frame(RST_STREAM, 0, id, Buffer.from([0, 0, 0, 2])));
  else if (trailers.length > 0) frames.push(headers(id, trailers, END_STREAM));
  return Buffer.concat(frames);
}

export function frame(type: number, flags: number, id: number, content: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(content.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, content]);
}

/** Literals that nobody remembers (RFC 7541, section 6.2.2). Names in lower case, mostly: others are malformed. */
function headers(id: number, fields: readonly Field[], flags: number): Buffer {
  const block = fields.flatMap(([name, value]) => [
    Buffer.from([0]),
    text(name === 'X-Upper' ? name : name.toLowerCase()),
    text(value),
  ]);
  const content = Buffer.concat(block);
  const frames = [];
  for (let at = 0; at === 0 || at < content.length; at += FRAME_MAX) {
    const last = at + FRAME_MAX >= content.length ? END_HEADERS : 0;
    const piece = content.subarray(at, at + FRAME_MAX);
    frames.push(at === 0 ? frame(HEADERS, flags | last, id, piece) : frame(CONTINUATION, last, id, piece));
  }
  return Buffer.concat(frames);
}

/** A length with a prefix of 7 bits (RFC 7541, section 5.1), and bytes. */
function text(value: string): Buffer {
  const bytes = latin(value);
  const { length } = bytes;
  if (length < 127) return Buffer.concat([Buffer.from([length]), bytes]);
  const more: number[] = [127];
  let left = length - 127;
  for (; left >= 128; left >>= 7) more.push((left & 127) | 128);
  return Buffer.concat([Buffer.from([...more, left]), bytes]);
}

function latin(value: string): Buffer {
  return Buffer.from(value, 'latin1');
}
