// The fields of one event of an event stream, and other values in their place.

import { isUtf8 } from 'node:buffer';

/** The fields whose values can be changed. */
export const EVENT_FIELDS = ['data', 'retry'] as const;
export type EventField = (typeof EVENT_FIELDS)[number];

/** Returns another value of a field; the same when it stays. */
export type ChangeValue = (field: EventField, value: string) => Promise<string>;

interface EventLine {
  name: string;
  value: string;
  /** The line as it came, with its end. */
  text: string;
  end: string;
}

const BOM = '\uFEFF';
const LINE = /([^\r\n]*)(\r\n|\n|\r|$)/g;
const LINE_END = /\r\n|\n|\r/;

/**
 * Changes the values of an event. The lines of `data` are one value, with LF between them, as the client gets it. An event
 * whose values all stay goes on byte by byte as it came; so do comments and fields of other names. One that is not UTF-8 is
 * changed byte by byte.
 */
export async function changeEvent(event: Buffer, change: ChangeValue): Promise<Buffer> {
  const encoding = isUtf8(event) ? 'utf8' : 'latin1';
  const text = event.toString(encoding);
  const mark = text.startsWith(BOM) ? BOM : ''; // A stream may begin with one.
  const lines = linesOf(text.slice(mark.length));
  const data = lines.filter(({ name }) => name === 'data');
  const changes = new Map<EventLine, string>();
  if (data.length > 0) {
    const was = data.map(({ value }) => value).join('\n');
    const value = await change('data', was);
    // The first line stands for all of them.
    if (value !== was) for (const line of data) changes.set(line, line === data[0] ? written(line, value) : '');
  }
  for (const line of lines.filter(({ name }) => name === 'retry')) {
    const value = await change('retry', line.value);
    if (value !== line.value) changes.set(line, written(line, value.replace(/[\r\n]/g, '')));
  }
  if (changes.size === 0) return event;
  return Buffer.from(mark + lines.map((line) => changes.get(line) ?? line.text).join(''), encoding);
}

function linesOf(text: string): EventLine[] {
  return [...text.matchAll(LINE)].flatMap(([whole, line = '', end = '']) => {
    if (whole === '') return [];
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    return [{ name, value, text: whole, end }];
  });
}

/** A value as lines of its field. */
function written({ name, end }: EventLine, value: string): string {
  const lineEnd = end || '\n';
  const lines = value.split(LINE_END).map((line) => `${name}: ${line}`);
  return lines.join(lineEnd) + end;
}
