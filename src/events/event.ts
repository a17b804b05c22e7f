// An event, and the form in which it is stored and delivered: one line of JSON.

import type { EventName, TEST_EVENT } from './types.ts';
import { WrittenEvent } from './written-event.ts';

/** The user or bot whose API call an audit event records. */
export interface Principal {
  /** `usr_…` or `bot_…`. */
  id: string;
  /** A user's e-mail address, a bot's name. */
  subject: string;
  source: 'API' | 'Dashboard';
  /** The API key of the call. */
  credential: { id: string; uri: string } | null;
}

export interface Event {
  /** `ev_…`: the same at every destination and every time it is delivered. */
  id: string;
  type: EventName | typeof TEST_EVENT;
  /** The wall clock, in milliseconds. */
  at: number;
  accountId: string;
  /** Null for traffic events, and for changes that no API call caused. */
  principal: Principal | null;
  /** The object in snake_case, without secrets. JSON can represent it. */
  object: object;
}

/** The envelope of an event, in the documented order of its members. @param object in JSON. */
export function writeEnvelope({ id, type, at, accountId, principal }: Omit<Event, 'object'>, object: string): string {
  // Ids and names have no characters that JSON escapes; `JSON.stringify` takes ten times as long.
  const head = `{"event_id":"${id}","event_type":"${type}","event_timestamp":"${secondsOf(at)}","account_id":"${accountId}"`;
  return `${head},"principal":${JSON.stringify(principal)},"object":${object}}`;
}

export function writeEvent(event: Event): string {
  return writeEnvelope(event, JSON.stringify(event.object));
}

/** Reads the text of an event from `writeEvent`. @throws for any other text. */
export function readWritten(text: string): WrittenEvent {
  const line = Buffer.from(text);
  const event = WrittenEvent.read(line, 0, line.length);
  if (!event) throw new Error('what is stored is not an event');
  return event;
}

/** The last formatted second. Of thousands of events in one second, all but the first use it. */
let second = Number.NaN;
let written = '';

/** RFC 3339 in UTC, in whole seconds. */
function secondsOf(at: number): string {
  const now = Math.floor(at / 1000);
  if (now !== second) {
    second = now;
    written = `${new Date(now * 1000).toISOString().slice(0, 19)}Z`;
  }
  return written;
}
