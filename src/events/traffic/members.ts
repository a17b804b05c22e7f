// What a member of the object of a traffic event is: how it is read off a report, written into the event, and seen by filters.

import type { CelInput, CelType } from '@bufbuild/cel';
import { BOOL, INT, LIST, STRING, TIMESTAMP } from '../../policy/cel/types.ts';
import { timestamp } from '../../policy/cel/variables/times.ts';
import { TEXTS_BY_NAME } from '../../policy/cel/variables/variable.ts';
import type { FieldType } from './fields.ts';
import { type HeaderFields, headerMap, writeHeaders } from './headers.ts';
import { momentWriter } from './moments.ts';
import { writeNotes } from './notes.ts';
import { quoted } from './quoted.ts';

export interface Member<R> {
  readonly type: FieldType;
  /** In JSON. */
  write(report: R): string;
  readonly celType: CelType;
  /** As an expression has it; undefined where the report says nothing of it. */
  value(report: R): CelInput | undefined;
}

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
  return { type: 'string', write: (report) => told(read(report), quoted) ?? 'null', celType: STRING, value: read };
}

/** A text of our own, that nothing is in which JSON would have to escape. */
export function plainText<R>(read: (report: R) => string | undefined): Member<R> {
  return { ...text(read), write: (report) => `"${read(report)}"` };
}

/** A whole number. */
export function integer<R>(read: (report: R) => number | undefined): Member<R> {
  return {
    type: 'number',
    write: (report) => String(read(report) ?? null),
    celType: INT,
    value: (report) => told(read(report), BigInt),
  };
}

export function flag<R>(read: (report: R) => boolean): Member<R> {
  return { type: 'boolean', write: (report) => String(read(report)), celType: BOOL, value: read };
}

/** @param read in milliseconds since 1970. Filters see a timestamp, with which they can compute. */
export function moment<R>(read: (report: R) => number | undefined): Member<R> {
  const written = momentWriter();
  return {
    type: 'timestamp',
    write: (report) => told(read(report), (ms) => `"${written(ms)}"`) ?? 'null',
    celType: TIMESTAMP,
    value: (report) => told(read(report), timestamp),
  };
}

export function headers<R>(read: (report: R) => HeaderFields | undefined): Member<R> {
  return {
    type: 'headers',
    write: (report) => told(read(report), writeHeaders) ?? 'null',
    celType: TEXTS_BY_NAME,
    value: (report) => told(read(report), headerMap),
  };
}

/** @param read objects that JSON can say. Filters see all of them, events as many as are not too long. */
export function list<R>(read: (report: R) => readonly object[] | undefined): Member<R> {
  return {
    type: 'list',
    write: (report) => told(read(report), writeNotes) ?? 'null',
    celType: LIST,
    value: (report) => read(report) as CelInput | undefined,
  };
}

function told<T, V>(value: T | undefined, make: (value: T) => V): V | undefined {
  return value === undefined ? undefined : make(value);
}
