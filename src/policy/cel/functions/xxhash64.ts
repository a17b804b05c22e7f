// The hash XXH64 (xxHash, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md), with the seed 0.

const P1 = 0x9e3779b185ebca87n;
const P2 = 0xc2b2ae3d27d4eb4fn;
const P3 = 0x165667b19e3779f9n;
const P4 = 0x85ebca77c2b2ae63n;
const P5 = 0x27d4eb2f165667c5n;

const wrap = (value: bigint) => BigInt.asUintN(64, value);
const rotate = (value: bigint, bits: bigint) => wrap((value << bits) | (value >> (64n - bits)));
const round = (lane: bigint, input: bigint) => wrap(rotate(wrap(lane + wrap(input * P2)), 31n) * P1);
const merge = (hash: bigint, lane: bigint) => wrap((hash ^ round(0n, lane)) * P1 + P4);

/** The hash in 8 bytes, the most significant first. */
export function xxhash64(data: Buffer): Buffer {
  let at = 0;
  let hash = P5;
  if (data.length >= 32) {
    let [a, b, c, d] = [wrap(P1 + P2), P2, 0n, wrap(-P1)];
    for (; at + 32 <= data.length; at += 32) {
      a = round(a, data.readBigUInt64LE(at));
      b = round(b, data.readBigUInt64LE(at + 8));
      c = round(c, data.readBigUInt64LE(at + 16));
      d = round(d, data.readBigUInt64LE(at + 24));
    }
    hash = wrap(rotate(a, 1n) + rotate(b, 7n) + rotate(c, 12n) + rotate(d, 18n));
    for (const lane of [a, b, c, d]) hash = merge(hash, lane);
  }
  hash = wrap(hash + BigInt(data.length));
  for (; at + 8 <= data.length; at += 8) hash = wrap(rotate(hash ^ round(0n, data.readBigUInt64LE(at)), 27n) * P1 + P4);
  if (at + 4 <= data.length) {
    hash = wrap(rotate(hash ^ wrap(BigInt(data.readUInt32LE(at)) * P1), 23n) * P2 + P3);
    at += 4;
  }
  for (; at < data.length; at++) hash = wrap(rotate(hash ^ wrap(BigInt(data[at] as number) * P5), 11n) * P1);
  hash = wrap((hash ^ (hash >> 33n)) * P2);
  hash = wrap((hash ^ (hash >> 29n)) * P3);
  const result = Buffer.alloc(8);
  result.writeBigUInt64BE(hash ^ (hash >> 32n));
  return result;
}
