// Frames that a hostile agent may send, out of a seed: some are right, most are nearly right, some are noise.

import { frame, open, SYN, Type } from './agent-wire.ts';

export type Random = () => number;

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const MEMBERS =
  'Id ClientId Cookie Version Extra AuthToken Token Proto Opts Hostname Domain Subdomain Addr URL Auth ProxyProto ForwardsTo ForwardsProto Metadata Bindings PoolingEnabled Labels TunnelId TrafficPolicy Policy BasicAuth OAuth OIDC IPRestriction allow_cidrs MutualTLSCA mutual_tls_ca TLSTermination MutualTLSAtEdge cert key CircuitBreaker error_threshold RequestHeaders ResponseHeaders add remove WebhookVerification provider secret UserAgentFilter Compression WebsocketTCPConverter StreamWindow UserAgent ClientType OS __proto__ constructor toString';
const NAMES = MEMBERS.split(' ');

/** Texts of JSON, as they are written: not all of them are right. */
const VALUES = [
  ...[
    'null',
    'true',
    '0',
    '-1',
    '2',
    '1e999',
    '-0',
    '1.5',
    '9007199254740993',
    '4294967296',
    '{}',
    '[]',
    '[null]',
    '""',
  ],
  ...['"http"', '"https"', '"tcp"', '"tls"', '"public"', '"internal"', '"http1"', '"http2"', '["3","2"]', '["3"]'],
  ...[
    '"\\ud800"',
    '"\\udc00x"',
    '"\\u0000"',
    '"a\\r\\nX-B: c"',
    '["x:\\r\\ny: z"]',
    '["\\u0000:1"]',
    '{"__proto__":{"a":1}}',
  ],
  ...[
    '":0"',
    '":65536"',
    '":-1"',
    '"tunnel.localhost:99999"',
    '"[::1]:80"',
    '"*."',
    '"*.tunnel.localhost"',
    '"xn--\\u00e9"',
  ],
  ...[
    '"{\\"inbound\\":[{}]}"',
    '"on_http_request: [{actions: [{type: deny}]}]"',
    '"&a [*a]"',
    '"{{{{"',
    '"<%"',
    '"LS0tLQ=="',
  ],
  ...[
    '"-----BEGIN CERTIFICATE-----\\nAA==\\n-----END CERTIFICATE-----"',
    '"__proto__"',
    '{"a":"b"}',
    '{"\\ud800":"x"}',
  ],
];

const TYPES = [0, 1, 1, 1, 1, 2, 7, 7, 8, 10, 10, 0xffffffff, 3, 4, 9, 11, 77];

export function hostileFrames(random: Random, count: number): Buffer[] {
  let next = 3;
  return Array.from({ length: count }, () => {
    const kind = random();
    if (kind < 0.6) {
      next += 2 * (1 + below(random, 3));
      return open(next, pick(random, TYPES), message(random), random() < 0.1 ? SYN | 1 : SYN);
    }
    const id = random() < 0.7 ? below(random, next + 4) : below(random, 2 ** 31);
    const body = Buffer.from(Array.from({ length: below(random, 60) }, () => below(random, 256)));
    if (kind < 0.75) return frame(Type.DATA, below(random, 2), id, body);
    if (kind < 0.95)
      return frame(below(random, 2) === 0 ? Type.RESET : Type.WINDOW, 0, id || 1, Buffer.from([body[0] ?? 0, 0, 1, 0]));
    if (kind < 0.99) return frame(Type.DATA, SYN, next + 1, body);
    return random() < 0.5 ? body : frame(below(random, 16), below(random, 16), id, body);
  });
}

/** A message: an object, or what is none, at times with bytes that are no text. */
function message(random: Random): Buffer {
  const text = random() < 0.9 ? object(random, 3) : pick(random, VALUES);
  const bytes = Buffer.from(text.replace(/\\u00e9/g, () => (random() < 0.5 ? '\\u00e9' : 'é')));
  if (random() < 0.05) bytes[below(random, bytes.length)] = below(random, 256);
  if (random() < 0.02) return Buffer.from('{"Opts":'.repeat(1000));
  return bytes;
}

function object(random: Random, depth: number): string {
  const members = Array.from({ length: below(random, 7) }, () => `"${pick(random, NAMES)}":${value(random, depth)}`);
  return `{${members.join()}}`;
}

function value(random: Random, depth: number): string {
  if (depth === 0 || random() < 0.5) return pick(random, VALUES);
  return random() < 0.8 ? object(random, depth - 1) : `[${value(random, depth - 1)},${value(random, depth - 1)}]`;
}

const below = (random: Random, end: number) => Math.floor(random() * end);
const pick = <T>(random: Random, all: readonly T[]): T => all[below(random, all.length)] as T;
