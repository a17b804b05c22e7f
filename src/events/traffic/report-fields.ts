// The fields of the objects of traffic events: how each is read from a report, and how it is written into the event.

import type { FieldType } from './fields.ts';
import { type HeaderFields, writeHeaders } from './headers.ts';
import { jsonString } from './json-string.ts';
import { timestampWriter } from './timestamps.ts';

/** The most characters of all texts and names in the entries of one event; each other value counts as `VALUE_LENGTH`. */
const LOGS_LENGTH_MAX = 32 * 1024;
const VALUE_LENGTH = 8;

/** The value of a field, by its type. */
export interface FieldValues {
  string: string;
  number: number;
  boolean: boolean;
  /** In milliseconds since 1970. */
  timestamp: number;
  headers: HeaderFields;
  /** Objects that JSON can represent. */
  list: readonly object[];
}

interface TypedReportField<R, T extends FieldType> {
  readonly type: T;
  /** @returns undefined when the report has no such value. */
  read(report: R): FieldValues[T] | undefined;
  /** @returns the value in JSON. */
  write(report: R): string;
}

export type ReportField<R> = { [T in FieldType]: TypedReportField<R, T> }[FieldType];

/** Whether the report has values for an inner object. If not, the event has null in its place. */
export type IsReported<R> = (report: R) => boolean;

/** How the object of a type of event is made from a report. */
export interface ObjectShape<R> {
  /** By path, in the order in which they are written. */
  readonly fields: Readonly<Record<string, ReportField<R>>>;
  /** The inner objects that may be null, by path. */
  readonly nullable: Readonly<Record<string, IsReported<R>>>;
}

export function stringField<R>(read: (report: R) => string | undefined): ReportField<R> {
  return { type: 'string', read, write: (report) => written(read(report), jsonString) };
}

/** A text of the gateway's own, which has no character that JSON escapes. */
export function plainStringField<R>(read: (report: R) => string | undefined): ReportField<R> {
  return { type: 'string', read, write: (report) => `"${read(report)}"` };
}

/** A whole number. */
export function integerField<R>(read: (report: R) => number | undefined): ReportField<R> {
  return { type: 'number', read, write: (report) => String(read(report) ?? null) };
}

export function booleanField<R>(read: (report: R) => boolean): ReportField<R> {
  return { type: 'boolean', read, write: (report) => String(read(report)) };
}

/** @param read returns milliseconds since 1970. */
export function timestampField<R>(read: (report: R) => number | undefined): ReportField<R> {
  const timestamp = timestampWriter();
  return { type: 'timestamp', read, write: (report) => written(read(report), timestamp) };
}

export function headersField<R>(read: (report: R) => HeaderFields | undefined): ReportField<R> {
  return { type: 'headers', read, write: (report) => written(read(report), writeHeaders) };
}

/** @param read returns objects that JSON can represent. Filters see all of them; events have as many as fit. */
export function policyLogsField<R>(read: (report: R) => readonly object[] | undefined): ReportField<R> {
  return { type: 'list', read, write: (report) => written(read(report), writePolicyLogs) };
}

/** A value in JSON, null where the report has none. */
function written<T>(value: T | undefined, write: (value: T) => string): string {
  return value === undefined ? 'null' : write(value);
}

/**
 * The first entries of `log` actions in JSON, as many as fit: a policy can log megabytes for one request.
 * @param entries objects that JSON can represent.
 */
function writePolicyLogs(entries: readonly object[]): string {
  let remaining = LOGS_LENGTH_MAX;
  const firstOmitted = entries.findIndex((entry) => {
    remaining = remainingAfter(entry, remaining);
    return remaining < 0;
  });
  return JSON.stringify(firstOmitted < 0 ? entries : entries.slice(0, firstOmitted));
}

/** What remains of a length after a value. It stops reading the value once nothing remains. */
function remainingAfter(value: unknown, length: number): number {
  if (typeof value === 'string') return length - value.length;
  let remaining = length - VALUE_LENGTH;
  if (typeof value !== 'object' || value === null) return remaining;
  for (const name in value) {
    if (remaining < 0) return remaining;
    remaining = remainingAfter((value as Record<string, unknown>)[name], remaining - name.length);
  }
  return remaining;
}
