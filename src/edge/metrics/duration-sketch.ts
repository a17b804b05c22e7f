// Durations as mergeable sketches (DDSketch): the percentiles of what was merged are as good as if all had been in one, and the bytes
// of a sketch are stored and read by whichever version of the gateway. The library's own format needs a package that it does not bring.

import { DDSketch } from '@datadog/sketches-js';

/** How far a percentile may be from the true value, as a share of it. Stored sketches have it too: it must stay as it is. */
const RELATIVE_ACCURACY = 0.01;
/** What is shorter counts as nothing; milliseconds. Together with the longest it limits the size of a sketch to 1,200 bins. */
const SHORTEST_MS = 0.001;
const LONGEST_MS = 30 * 24 * 3_600_000;
/** The format of the bytes. */
const VERSION = 1;

export type DurationSketch = DDSketch;

export function newSketch(): DurationSketch {
  return new DDSketch({ relativeAccuracy: RELATIVE_ACCURACY });
}

/** Adds a duration in milliseconds. It costs about 40 ns. */
export function addDuration(sketch: DurationSketch, ms: number): void {
  sketch.accept(ms < SHORTEST_MS ? 0 : ms > LONGEST_MS ? LONGEST_MS : ms);
}

/**
 * Writes a sketch: the version, how many durations were nothing, the first bin, and of each bin that is not empty how many bins it is
 * after the one before, and its count. All are numbers of seven bits a byte, the lowest first (LEB128).
 */
export function encodeSketch({ store, zeroCount }: DurationSketch): Buffer {
  const bytes: number[] = [VERSION];
  writeNumber(bytes, zeroCount);
  if (store.count === 0) return Buffer.from(bytes);
  const { bins, offset, minKey, maxKey } = store;
  writeNumber(bytes, minKey < 0 ? -2 * minKey - 1 : 2 * minKey);
  let before = minKey;
  for (let key = minKey; key <= maxKey; key++) {
    const count = bins[key - offset] as number;
    if (count === 0) continue;
    writeNumber(bytes, key - before);
    writeNumber(bytes, count);
    before = key;
  }
  return Buffer.from(bytes);
}

/** Adds what was written to a sketch. Bytes of a version that is not known add nothing. */
export function mergeEncoded(sketch: DurationSketch, bytes: Uint8Array): void {
  if (bytes[0] !== VERSION) return;
  const reader = { bytes, at: 1 };
  const zeros = readNumber(reader);
  sketch.zeroCount += zeros;
  sketch.count += zeros;
  if (reader.at >= bytes.length) return;
  const first = readNumber(reader);
  let key = first % 2 === 1 ? -(first + 1) / 2 : first / 2;
  while (reader.at < bytes.length) {
    key += readNumber(reader);
    const count = readNumber(reader);
    sketch.store.add(key, count);
    sketch.count += count;
  }
}

/** Writes several sketches as one. @returns null when there are none. */
export function encodeMerged(encoded: readonly Uint8Array[]): Uint8Array | null {
  const [first] = encoded;
  if (!first || encoded.length === 1) return first ?? null;
  return encodeSketch(addedDurations(encoded));
}

/** Sketches that were written, merged. */
export function addedDurations(encoded: readonly Uint8Array[]): DurationSketch {
  const sketch = newSketch();
  for (const bytes of encoded) mergeEncoded(sketch, bytes);
  return sketch;
}

/** The duration that a share of all, from 0 to 1, is not above; milliseconds. */
export function quantileOf(sketch: DurationSketch, share: number): number {
  return sketch.count > 0 ? sketch.getValueAtQuantile(share) : 0;
}

/**
 * Adds the durations of a sketch to the counts of a histogram.
 * @param counts for each bound those up to it and above the one before, and at the end those above all.
 * @param boundsMs in rising order. A duration within 1 % of a bound may be counted on its other side.
 * @returns the sum of the durations, right to 1 %; milliseconds.
 */
export function addToHistogram(counts: number[], boundsMs: readonly number[], encoded: Uint8Array): number {
  const { store, mapping, zeroCount } = addedDurations([encoded]);
  counts[0] = (counts[0] as number) + zeroCount;
  let [at, sum] = [0, 0];
  for (let key = store.minKey; key <= store.maxKey; key++) {
    const count = store.bins[key - store.offset] ?? 0;
    if (count === 0) continue;
    const value = mapping.value(key);
    while (at < boundsMs.length && value > (boundsMs[at] as number)) at++;
    counts[at] = (counts[at] as number) + count;
    sum += value * count;
  }
  return sum;
}

/** Division and not shifts: a count may be more than 32 bits. */
function writeNumber(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

function readNumber(reader: { bytes: Uint8Array; at: number }): number {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = reader.bytes[reader.at++] ?? 0;
    value += (byte % 128) * scale;
    if (byte < 128) return value;
  }
}
