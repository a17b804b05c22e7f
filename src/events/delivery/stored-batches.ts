// Stored batches, opened. One that cannot be read must not stop those behind it.

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { packEvents, unpackEvents } from '../batch.ts';
import { readWritten, type WrittenEvent } from '../event.ts';
import type { DeliveryProgress, StoredBatch, UndeliverableEvent } from './destination-queue.ts';

const expand = promisify(gunzip);

export interface UnpackedBatch {
  id: string;
  events: readonly WrittenEvent[];
  /** What of it is not an event, with its raw text. */
  unreadable: readonly UndeliverableEvent[];
}

/** Opens one after the other: all at once would take every thread and, when they are done, the event loop for themselves. */
export async function unpackBatches(batches: readonly StoredBatch[]): Promise<UnpackedBatch[]> {
  const opened: UnpackedBatch[] = [];
  for (const { id, body } of batches) {
    try {
      opened.push({ id, events: await unpackEvents(body), unreadable: [] });
    } catch {
      opened.push({ id, ...salvage(await rawText(body)) });
    }
  }
  return opened;
}

/** What became of batches, when only the events of `left` are still to be sent. */
export async function progressOf(
  batches: readonly UnpackedBatch[],
  { left, dead, delivered }: { left: readonly WrittenEvent[]; dead: readonly UndeliverableEvent[]; delivered: number },
): Promise<DeliveryProgress> {
  const isLeft = new Set(left);
  const done: string[] = [];
  const shortened: DeliveryProgress['shortened'][number][] = [];
  for (const { id, events, unreadable } of batches) {
    const rest = events.filter((event) => isLeft.has(event));
    if (rest.length === 0) done.push(id);
    else if (rest.length < events.length || unreadable.length > 0)
      shortened.push({ id, left: await packEvents(rest.map(({ text }) => text)) });
  }
  return { done, shortened, dead: [...batches.flatMap(({ unreadable }) => unreadable), ...dead], delivered };
}

function salvage(text: string): Pick<UnpackedBatch, 'events' | 'unreadable'> {
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

/** The lines; in base64 what does not even expand. */
async function rawText(body: Uint8Array): Promise<string> {
  const bytes = Buffer.from(body);
  if (bytes[0] !== 0x1f) return bytes.toString();
  return expand(bytes).then(
    (lines) => lines.toString(),
    () => bytes.toString('base64'),
  );
}
