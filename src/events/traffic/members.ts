// What a member of the object of a traffic event is: how it is read from a report, and how it is written into the event.

import type { FieldType } from './fields.ts';
import { type HeaderFields, writeHeaders } from './headers.ts';
import { momentWriter } from './moments.ts';
import { writeNotes } from './notes.ts';
import { quoted } from './quoted.ts';

/** What the reader of a member returns, by its type. */
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

interface MemberOf<R, T extends FieldType> {
  readonly type: T;
  /** @returns undefined where the report says nothing of it. */
  read(report: R): FieldValues[T] | undefined;
  /** In JSON. */
  write(report: R): string;
}

export type Member<R> = { [T in FieldType]: MemberOf<R, T> }[FieldType];

/** An object in the object that reports may say nothing of: it is null then. */
export type IsTold<R> = (report: R) => boolean;

/** How the object of a type of event is made of a report. */
export interface ObjectShape<R> {
  /** By their paths; in the order in which they are written. */
  readonly members: Readonly<Record<string, Member<R>>>;
  /** By path, for those that may be null. */
  readonly nullable: Readonly<Record<string, IsTold<R>>>;
}

export function text<R>(read: (report: R) => string | undefined): Member<R> {
  return { type: 'string', read, write: (report) => told(read(report), quoted) ?? 'null' };
}

/** A text of our own, that nothing is in which JSON would have to escape. */
export function plainText<R>(read: (report: R) => string | undefined): Member<R> {
  return { type: 'string', read, write: (report) => `"${read(report)}"` };
}

/** A whole number. */
export function integer<R>(read: (report: R) => number | undefined): Member<R> {
  return { type: 'number', read, write: (report) => String(read(report) ?? null) };
}

export function flag<R>(read: (report: R) => boolean): Member<R> {
  return { type: 'boolean', read, write: (report) => String(read(report)) };
}

/** @param read in milliseconds since 1970. */
export function moment<R>(read: (report: R) => number | undefined): Member<R> {
  const written = momentWriter();
  return { type: 'timestamp', read, write: (report) => told(read(report), (ms) => `"${written(ms)}"`) ?? 'null' };
}

export function headers<R>(read: (report: R) => HeaderFields | undefined): Member<R> {
  return { type: 'headers', read, write: (report) => told(read(report), writeHeaders) ?? 'null' };
}

/** @param read returns objects that JSON can represent. Filters see all of them, events as many as are not too long. */
export function list<R>(read: (report: R) => readonly object[] | undefined): Member<R> {
  return { type: 'list', read, write: (report) => told(read(report), writeNotes) ?? 'null' };
}

function told<T, V>(value: T | undefined, make: (value: T) => V): V | undefined {
  return value === undefined ? undefined : make(value);
}
