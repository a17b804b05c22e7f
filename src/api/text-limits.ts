// Limits on texts, worded once. Lengths are bytes of UTF-8 (specification section 8).

import { ApiError, type ErrorName } from './errors/errors.ts';

export const DESCRIPTION_MAX_BYTES = 255;
export const METADATA_MAX_BYTES = 4096;

export interface OwnerNotes {
  description?: string | null;
  metadata?: string | null;
}

const tooLongErrors = {
  key: { description: 'keyDescriptionTooLong', metadata: 'keyMetadataTooLong' },
  domain: { description: 'domainDescriptionTooLong', metadata: 'domainMetadataTooLong' },
  other: { description: 'descriptionTooLong', metadata: 'metadataTooLong' },
} as const satisfies Record<string, Record<keyof OwnerNotes, ErrorName>>;

/**
 * The description and metadata of an input, as the database takes them: what was not given (absent or null) is
 * undefined, which leaves the default or the stored value.
 * @throws {ApiError} when one is too long.
 */
export function checkTexts({ description, metadata }: OwnerNotes, family: keyof typeof tooLongErrors = 'other') {
  if (description) checkBytes('description', description, DESCRIPTION_MAX_BYTES, tooLongErrors[family].description);
  if (metadata) checkBytes('metadata', metadata, METADATA_MAX_BYTES, tooLongErrors[family].metadata);
  return { description: description ?? undefined, metadata: metadata ?? undefined };
}

export function checkBytes(member: string, text: string, max: number, error: ErrorName): void {
  const actual = Buffer.byteLength(text);
  if (actual > max) throw new ApiError(error, { member, max, actual });
}

export interface LabelLimits {
  /** How many labels there may be. */
  count: number;
  /** The most bytes of a key and of a value. */
  key: number;
  value: number;
}

/** @throws {ApiError} when there are too many labels, or a key or a value is not of the right length. */
export function checkLabelLimits<T extends Readonly<Record<string, string>>>(labels: T, limits: LabelLimits): T {
  const member = 'labels';
  const pairs = Object.entries(labels);
  if (pairs.length > limits.count) throw new ApiError('tooManyLabels', { member, max: limits.count });
  const isWithin = (text: string, max: number) => text !== '' && Buffer.byteLength(text) <= max;
  for (const [key, value] of pairs) {
    if (key.includes('=') || !isWithin(key, limits.key))
      throw new ApiError('labelKeyLength', { member, max: limits.key });
    if (!isWithin(value, limits.value)) throw new ApiError('labelValueLength', { member, max: limits.value });
  }
  return labels;
}

/** Whether the database can hold a text as it is: without U+0000, and without half a surrogate pair. */
export function isStorable(value: unknown): boolean {
  return typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed());
}

/**
 * Refuses texts the database cannot hold as they are.
 * @param value any input, looked through to its leaves.
 */
export function checkStorable(value: unknown, member = ''): void {
  if (typeof value === 'string') {
    if (!isStorable(value)) {
      throw new ApiError('wrongValue', { member: member || 'input', reason: 'it must be Unicode text without U+0000' });
    }
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => {
      checkStorable(item, `${member}[${index}]`);
    });
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      checkStorable(name, member);
      checkStorable(item, member && member !== 'input' ? `${member}.${name}` : name);
    }
  }
}
