// Groups events into requests of CloudWatch Logs: one per day, the oldest event first.

import type { WrittenEvent } from '../../written-event.ts';
import type { Rejection } from '../sink.ts';

export interface NumberedEvent {
  event: WrittenEvent;
  /** When it happened, in milliseconds. */
  at: number;
  /** The index of the event in the list that the sink was given. */
  index: number;
}

export interface Day {
  /** The day in UTC: `2026-11-21`. */
  name: string;
  events: NumberedEvent[];
}

/** The days in order, each with its events by time. A request must not span more than 24 hours. */
export function byDay(events: readonly WrittenEvent[]): Day[] {
  const sorted = events.map((event, index) => ({ event, at: event.at, index })).sort((a, b) => a.at - b.at);
  const days: Day[] = [];
  for (const numbered of sorted) {
    const name = new Date(numbered.at).toISOString().slice(0, 10);
    const last = days.at(-1);
    if (last?.name === name) last.events.push(numbered);
    else days.push({ name, events: [numbered] });
  }
  return days;
}

/** The SDK's description of rejected events: indexes into the request, with exclusive ends. */
interface RejectedInfo {
  tooNewLogEventStartIndex?: number;
  tooOldLogEventEndIndex?: number;
  expiredLogEventEndIndex?: number;
}

/** The events that were rejected because of their time. They will never be accepted. */
export function rejectedEvents(events: readonly NumberedEvent[], info: RejectedInfo = {}): Rejection[] {
  const { tooNewLogEventStartIndex: newFrom = events.length, tooOldLogEventEndIndex: oldTo = 0 } = info;
  const { expiredLogEventEndIndex: expiredTo = 0 } = info;
  return events.flatMap(({ index }, place) => {
    if (place < oldTo) return [refused(index, 'TooOldLogEvent', 'the event is older than CloudWatch Logs takes')];
    if (place < expiredTo) return [refused(index, 'ExpiredLogEvent', 'the event is older than its log group keeps')];
    if (place >= newFrom) return [refused(index, 'TooNewLogEvent', 'the event is too far in the future')];
    return [];
  });
}

const refused = (index: number, code: string, message: string): Rejection => ({
  index,
  fate: 'refused',
  code,
  message,
});
