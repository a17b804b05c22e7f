// Where a page of a list ends, for whoever asks for the next one. In the order by id that is an id. In any other order it is an id
// and the value that the list is ordered by, so that the place is known also when that row is gone or has another value by then.

import { createHash } from 'node:crypto';
import { isId } from '../../store/ids.ts';
import { ApiError } from '../errors/errors.ts';
import { isStorable } from '../text-limits.ts';
import type { ListOrder, Position } from './order.ts';

/**
 * The longest value in a cursor, in bytes: with it, a cursor has less than 5600 characters, and the address of the next page stays
 * below the 8 KiB that servers and proxies take as the first line of a request.
 */
const VALUE_MAX_BYTES = 4096;
/** It finds what was cut off or mistyped. It is no signature: a cursor says where to read on, never what may be read. */
const CHECKSUM_BYTES = 6;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** What the ids of a list begin with: one text, or one of several. */
export type IdPrefix = string | readonly string[];

/** What a cursor says: without a value, the place is that of the row with the id. */
export type ReadCursor = Pick<Position, 'id'> & Partial<Position>;

/**
 * The cursor of a row in an order: its id, or `<id>.<base64url of a checksum, the column and the value>`. The id alone also stands
 * for a row whose value is longer than 4096 bytes.
 * @param row with the column of the order.
 */
export function cursorOf(row: { id: string }, { column }: ListOrder): string {
  const { id } = row;
  if (column === 'id') return id;
  const value = (row as Record<string, unknown>)[column];
  const text = value instanceof Date ? value.toISOString() : typeof value === 'number' ? String(value) : value;
  // No text of the database has U+0000: behind it is the value, and where it is not, the value is null.
  const place = Buffer.from(typeof text === 'string' ? `${column}\0${text}` : column);
  if (place.length > column.length + 1 + VALUE_MAX_BYTES) return id;
  return `${id}.${Buffer.concat([checksum(id, place), place]).toString('base64url')}`;
}

/**
 * Reads a cursor of a list, or the id of one of its objects.
 * @param member the argument that it was given as.
 * @param prefix what the ids of the list begin with, each with one of them where they are several; null: they may be any texts, and the
 *   list is ordered by them.
 * @throws {ApiError} when it is neither, or of another order.
 */
export function readCursor(cursor: string, member: string, prefix: IdPrefix | null, order: ListOrder): ReadCursor {
  if (prefix === null) {
    if (isStorable(cursor)) return { id: cursor };
    throw new ApiError('wrongCursor', { member, prefix: '' });
  }
  const [id = '', encoded, ...more] = cursor.split('.');
  const prefixes = [prefix].flat();
  const wrong = () => new ApiError('wrongCursor', { member, prefix: prefixes.join('_" or "') });
  if (!prefixes.some((one) => isId(one, id)) || more.length > 0) throw wrong();
  if (encoded === undefined) return { id };

  const bytes = Buffer.from(encoded, 'base64url');
  const place = bytes.subarray(CHECKSUM_BYTES);
  // Decoding passes over what is no base64url.
  if (bytes.toString('base64url') !== encoded || !bytes.subarray(0, CHECKSUM_BYTES).equals(checksum(id, place)))
    throw wrong();
  const [column, text] = partsOf(place) ?? [];
  if (column === undefined) throw wrong();
  if (column !== order.column) throw new ApiError('cursorOfOtherOrder', { member });
  const value = columnValue(text, order);
  if (value === undefined) throw wrong();
  return { id, value };
}

function checksum(id: string, place: Buffer): Buffer {
  return createHash('sha256').update(id).update(place).digest().subarray(0, CHECKSUM_BYTES);
}

function partsOf(place: Buffer): [column: string, text: string | null] | undefined {
  try {
    const decoded = utf8.decode(place);
    const end = decoded.indexOf('\0');
    return end < 0 ? [decoded, null] : [decoded.slice(0, end), decoded.slice(end + 1)];
  } catch {
    return undefined;
  }
}

/** @returns undefined for what the column cannot hold. */
function columnValue(
  text: string | null | undefined,
  { isNullable, holds }: ListOrder,
): string | number | Date | null | undefined {
  if (text === null) return isNullable ? null : undefined;
  if (text === undefined || !isStorable(text)) return undefined;
  if (holds === 'texts') return text;
  if (holds === 'numbers')
    return Number.isFinite(Number(text)) && String(Number(text)) === text ? Number(text) : undefined;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) || time.toISOString() !== text ? undefined : time;
}
