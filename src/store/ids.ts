// Ids and secrets. An id is `<prefix>_<27 base62 characters>`: a KSUID, which sorts by the time it was made.

import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Seconds from 1970 to the KSUID epoch, 2014-05-13T16:53:20Z. */
const EPOCH_SECONDS = 1_400_000_000;
const KSUID_LENGTH = 27;
const TICKS_PER_SECOND = 1 << 24;
const COUNTER_LIMIT = 1 << 24;
const POOL_BYTES = 4096;

let lastTick = 0;
let counter = 0;

/**
 * A new id. Of the KSUID's 16 payload bytes, three are the fraction of the second and three a counter, so that the
 * ids of one process sort strictly in the order of their creation, also when the clock stands still or steps back;
 * the other ten are random.
 */
export function newId(prefix: string, now: number = Date.now()): string {
  const tick = Math.floor((now / 1000 - EPOCH_SECONDS) * TICKS_PER_SECOND);
  if (tick > lastTick) {
    lastTick = tick;
    counter = 0;
  } else if (++counter === COUNTER_LIMIT) {
    lastTick += 1;
    counter = 0;
  }
  const bytes = random(20);
  bytes.writeUInt32BE(Math.floor(lastTick / TICKS_PER_SECOND), 0);
  bytes.writeUIntBE(lastTick % TICKS_PER_SECOND, 4, 3);
  bytes.writeUIntBE(counter, 7, 3);
  return `${prefix}_${base62(bytes, KSUID_LENGTH)}`;
}

/** What all ids of this kind sort after that were made at a time or later. @param time in milliseconds of the wall clock. */
export function lowestIdAt(prefix: string, time: number): string {
  const tick = Math.max(0, Math.floor((time / 1000 - EPOCH_SECONDS) * TICKS_PER_SECOND));
  const bytes = Buffer.alloc(20);
  bytes.writeUInt32BE(Math.min(0xffff_ffff, Math.floor(tick / TICKS_PER_SECOND)), 0);
  bytes.writeUIntBE(tick % TICKS_PER_SECOND, 4, 3);
  return `${prefix}_${base62(bytes, KSUID_LENGTH)}`;
}

/** Whether a text has the form of an id of this kind. It says nothing about whether such a thing exists. */
export function isId(prefix: string, text: string): boolean {
  return (
    text.length === prefix.length + 1 + KSUID_LENGTH &&
    text.startsWith(`${prefix}_`) &&
    /^[0-9A-Za-z]+$/.test(text.slice(prefix.length + 1))
  );
}

/** The secret that goes with an id: `<KSUID of the id>_<24 base62 characters>`, 142 random bits. Shown once. */
export function newSecret(id: string): string {
  return `${id.slice(id.indexOf('_') + 1)}_${base62(random(18), 24)}`;
}

/** `length` lower-case letters and digits, for names in the DNS. */
export function randomLabel(length: number): string {
  return Array.from(random(length), (byte) => (byte % 36).toString(36)).join('');
}

let pool = Buffer.alloc(0);

/** Random bytes out of a pool, which saves a system call for each id. No byte is given out twice. */
function random(bytes: number): Buffer {
  if (pool.length < bytes) pool = randomBytes(POOL_BYTES);
  const taken = pool.subarray(0, bytes);
  pool = pool.subarray(bytes);
  return taken;
}

/** All pairs of digits, so that two are written at once. */
const PAIRS = Array.from(ALPHABET, (high) => Array.from(ALPHABET, (low) => high + low)).flat();
/** The number that is being divided, in 32-bit limbs: an id is made for each event of traffic, and memory for none. */
const limbs = new Uint32Array(5);

/** The last `length` base62 digits of a number given as at most 20 big-endian bytes: long division, three digits a time. */
function base62(bytes: Buffer, length: number): string {
  let first = limbs.length - Math.ceil(bytes.length / 4);
  for (let limb = limbs.length - 1, end = bytes.length; limb >= first; limb--, end -= 4)
    limbs[limb] = bytes.readUIntBE(Math.max(0, end - 4), Math.min(4, end));
  let text = '';
  while (text.length < length) {
    let rest = 0;
    while (limbs[first] === 0) first++;
    for (let limb = first; limb < limbs.length; limb++) {
      const value = rest * 2 ** 32 + (limbs[limb] ?? 0);
      limbs[limb] = Math.floor(value / 62 ** 3);
      rest = value % 62 ** 3;
    }
    text = `${PAIRS[Math.floor(rest / 62)]}${ALPHABET[rest % 62]}${text}`;
  }
  return text.slice(-length);
}
