// Unpacks stored batches. A damaged batch must not block those behind it, so what can be read of it is delivered.

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { packEvents, unpackEvents } from '../batch.ts';
import { readWritten, type WrittenEvent } from '../event.ts';
import type { DeliveryProgress, StoredBatch, UndeliverableEvent } from './destination-queue.ts';

const expand = promisify(gunzip);

export interface UnpackedBatch {
  id: string;
  events: readonly WrittenEvent[];
  /** The parts of the batch that are not events, with their raw text. */
  unreadable: readonly UndeliverableEvent[];
}

/** Unpacks one batch after the other: all at once would occupy every thread of the pool and then the event loop. */
export async function unpackBatches(batches: readonly StoredBatch[]): Promise<UnpackedBatch[]> {
  const opened: UnpackedBatch[] = [];
  for (const { id, body } of batches) {
    try {
      opened.push({ id, events: await unpackEvents(body), unreadable: [] });
    } catch {
      opened.push({ id, ...recoverEvents(await rawText(body)) });
    }
  }
  return opened;
}

/** The progress of batches of which only the events in `remaining` are still to be sent. */
export async function progressOf(
  batches: readonly UnpackedBatch[],
  {
    remaining,
    dead,
    delivered,
  }: { remaining: readonly WrittenEvent[]; dead: readonly UndeliverableEvent[]; delivered: number },
): Promise<DeliveryProgress> {
  const isRemaining = new Set(remaining);
  const done: string[] = [];
  const shortened: DeliveryProgress['shortened'][number][] = [];
  for (const { id, events, unreadable } of batches) {
    const remainingEvents = events.filter((event) => isRemaining.has(event));
    if (remainingEvents.length === 0) done.push(id);
    else if (remainingEvents.length < events.length || unreadable.length > 0)
      shortened.push({ id, remaining: await packEvents(remainingEvents.map(({ text }) => text)) });
  }
  return { done, shortened, dead: [...batches.flatMap(({ unreadable }) => unreadable), ...dead], delivered };
}

function recoverEvents(text: string): Pick<UnpackedBatch, 'events' | 'unreadable'> {
  const events: WrittenEvent[] = [];
  const unreadable: UndeliverableEvent[] = [];
  for (const line of text.split('\n')) {
    try {
      events.push(readWritten(line));
    } catch {
      const event = { id: '', type: '', at: 0, text: line };
      unreadable.push({ event, code: 'Unreadable', message: 'what is stored is not an event' });
    }
  }
  return { events, unreadable };
}

/** The lines of a batch; its bytes in base64 when they cannot be decompressed. */
async function rawText(body: Uint8Array): Promise<string> {
  const bytes = Buffer.from(body);
  if (bytes[0] !== 0x1f) return bytes.toString();
  return expand(bytes).then(
    (lines) => lines.toString(),
    () => bytes.toString('base64'),
  );
}
