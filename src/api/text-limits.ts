// Limits on texts, worded once. Lengths are bytes of UTF-8 (specification section 8).

import { ApiError, type ErrorName } from './errors/errors.ts';
import { checkAll, checkEach, ProblemCollector } from './errors/problems.ts';

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
 * @throws {ApiError} for those that are too long.
 */
export function checkTexts({ description, metadata }: OwnerNotes, family: keyof typeof tooLongErrors = 'other') {
  const errors = tooLongErrors[family];
  checkAll({
    description: () => description && checkBytes('description', description, DESCRIPTION_MAX_BYTES, errors.description),
    metadata: () => metadata && checkBytes('metadata', metadata, METADATA_MAX_BYTES, errors.metadata),
  });
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
  checkEach(pairs, ([key, value]) => {
    if (key.includes('=') || !isWithin(key, limits.key))
      throw new ApiError('labelKeyLength', { member, max: limits.key });
    if (!isWithin(value, limits.value)) throw new ApiError('labelValueLength', { member, max: limits.value });
  });
  return labels;
}

/** Whether the database can hold a text as it is: without U+0000, and without half a surrogate pair. */
export function isStorable(value: unknown): boolean {
  return typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed());
}

/**
 * Refuses texts the database cannot hold as they are.
 * @param value any input, looked through to its leaves.
 * @throws {ApiError} naming all of them.
 */
export function checkStorable(value: unknown): void {
  const problems = new ProblemCollector();
  collectUnstorable(value, '', problems);
  problems.throwIfAny();
}

function collectUnstorable(value: unknown, member: string, problems: ProblemCollector): void {
  if (typeof value === 'string') {
    const reason = 'it must be Unicode text without U+0000';
    if (!isStorable(value)) problems.add(new ApiError('wrongValue', { member: member || 'input', reason }));
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collectUnstorable(item, `${member}[${index}]`, problems);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      collectUnstorable(name, member, problems);
      collectUnstorable(item, member && member !== 'input' ? `${member}.${name}` : name, problems);
    }
  }
}
