// Keeps the cost of garbage collection under traffic low. Every read from a socket leaves a buffer of up to 64 KiB behind,
// outside of V8's heap. V8 counts these bytes towards a full collection, which marks the whole heap, though a collection
// of the young generation would free them within a millisecond. After a collection in a quiet moment, Node 20 to 26 start
// another full one for every 15 to 25 MB of traffic, and an upload costs four times the CPU that it needs.

import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** At 1 GB/s, the bytes that arrive between two checks and V8's own limit of 64 MB are still apart. */
const CHECK_INTERVAL_MS = 20;
/** Growth of the buffers, in bytes, that makes a collection of the young generation worth its millisecond. */
const WORTHWHILE_BYTES = 16 * 1024 * 1024;
/**
 * How far the heap may grow before V8 collects all of it, in per cent of what was alive at the last time. V8 would choose
 * between 10 and 300 by how fast JavaScript allocates, which is slow while a gateway only relays.
 */
const HEAP_GROWTH_PERCENT = 100;

/**
 * Frees the buffers of finished reads by collections of the young generation, for as long as the process lives.
 * @returns a function that stops it.
 */
export function collectReadBuffers(): () => void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
  const collectYoung = youngCollection();
  let lowest = externalBytes();
  const check = () => {
    const bytes = externalBytes();
    lowest = Math.min(lowest, bytes);
    if (bytes - lowest < WORTHWHILE_BYTES) return;
    collectYoung();
    lowest = externalBytes();
  };
  const timer = setInterval(check, CHECK_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

const externalBytes = () => getHeapStatistics().external_memory;

/** V8 has a function for it, which a context sees if it is made while the flag is set. */
function youngCollection(): () => void {
  setFlagsFromString('--expose-gc');
  const gc: (options: { type: 'minor' }) => void = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return () => gc({ type: 'minor' });
}
