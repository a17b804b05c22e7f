// Hashes of texts, as `hash.sha256(text)` and `text.sha256()`, in hexadecimal or Base64.

import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type CelFunc, celFunc, celMethod } from '@bufbuild/cel';
import { spend } from '../cost-budget.ts';
import { STRING } from '../types.ts';
import { xxhash64 } from './xxhash64.ts';

const HASHES: Record<string, (data: Buffer) => Buffer> = {
  crc32: (data) => {
    const result = Buffer.alloc(4);
    result.writeUInt32BE(crc32(data));
    return result;
  },
  crc64,
  md5: (data) => createHash('md5').update(data).digest(),
  sha1: (data) => createHash('sha1').update(data).digest(),
  sha256: (data) => createHash('sha256').update(data).digest(),
  sha512: (data) => createHash('sha512').update(data).digest(),
  xxhash64,
};

/** The table of CRC-64/ISO (ISO 3309), reflected: the checksum of each byte. */
const CRC64_TABLE = BigUint64Array.from({ length: 256 }, (_, byte) => {
  let sum = BigInt(byte);
  for (let bit = 0; bit < 8; bit++) sum = (sum >> 1n) ^ (sum & 1n ? 0xd800000000000000n : 0n);
  return sum;
});

function crc64(data: Buffer): Buffer {
  const all = 0xffffffffffffffffn;
  let sum = all;
  for (const byte of data) sum = (CRC64_TABLE[Number(sum & 0xffn) ^ byte] as bigint) ^ (sum >> 8n);
  const result = Buffer.alloc(8);
  result.writeBigUInt64BE(sum ^ all);
  return result;
}

function digest(hash: (data: Buffer) => Buffer, text: string, format: string): string {
  if (format !== 'hex' && format !== 'base64') throw new Error('makes a hash in "hex" or in "base64"');
  spend(10 + text.length);
  return hash(Buffer.from(text)).toString(format);
}

export const HASH_FUNCTIONS: CelFunc[] = Object.entries(HASHES).flatMap(([name, hash]) => [
  celFunc(`hash.${name}`, [STRING], STRING, (text) => digest(hash, text, 'hex')),
  celFunc(`hash.${name}`, [STRING, STRING], STRING, (text, format) => digest(hash, text, format)),
  celMethod(name, STRING, [], STRING, function () {
    return digest(hash, this, 'hex');
  }),
  celMethod(name, STRING, [STRING], STRING, function (format) {
    return digest(hash, this, format);
  }),
]);
