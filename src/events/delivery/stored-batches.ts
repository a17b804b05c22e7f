// Unpacks stored batches. A damaged batch must not block those behind it, so what can be read of it is delivered.

import { setImmediate as turn } from 'node:timers/promises';
import { type BatchContent, linesOf, packLines, readLines } from '../batch.ts';
import type { RecentBatch } from '../recent-batches.ts';
import type { WrittenEvent } from '../written-event.ts';
import type { DeliveryProgress, StoredBatch, UndeliverableEvent } from './destination-queue.ts';

const NEWLINE = Buffer.from('\n');

export interface UnpackedBatch extends BatchContent {
  id: string;
  recent: RecentBatch | undefined;
}

/**
 * Unpacks one batch after the other, each in a turn of the event loop of its own: all at once would occupy every thread of the pool, and
 * then keep visitors waiting.
 */
export async function unpackBatches(batches: readonly StoredBatch[]): Promise<UnpackedBatch[]> {
  const opened: UnpackedBatch[] = [];
  for (const { id, body, recent } of batches) {
    const content = recent
      ? readLines(recent.lines)
      : await linesOf(body).then(readLines, () => ({ events: [], unreadable: [base64Of(body)] }));
    opened.push({ id, recent, ...content });
    if (recent) await turn();
  }
  return opened;
}

/** Ends the use of batches. @param isOver whether all requests with their events have ended, and nobody reads these any more. */
export function releaseBatches(batches: readonly UnpackedBatch[], isOver: boolean): void {
  for (const { recent } of batches)
    if (isOver) recent?.release();
    else recent?.forget();
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
    const left = isRemaining.size === 0 ? [] : events.filter((event) => isRemaining.has(event));
    if (left.length === 0) done.push(id);
    else if (left.length < events.length || unreadable.length > 0)
      shortened.push({ id, remaining: await packLines(joined(left), left.length) });
  }
  const damaged = batches.flatMap(({ unreadable }) => unreadable.map(undeliverable));
  return { done, shortened, dead: [...damaged, ...dead], delivered };
}

function undeliverable(text: string): UndeliverableEvent {
  return { event: { id: '', type: '', text }, code: 'Unreadable', message: 'what is stored is not an event' };
}

function joined(events: readonly WrittenEvent[]): Buffer {
  return Buffer.concat(events.flatMap(({ bytes }, index) => (index === 0 ? bytes : [NEWLINE, bytes])));
}

function base64Of(body: Uint8Array): string {
  return Buffer.from(body).toString('base64');
}
