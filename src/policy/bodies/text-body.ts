// A body as a text that can be searched, and back.

import { isUtf8 } from 'node:buffer';
import type { CelInput } from '@bufbuild/cel';
import type { HttpResponse } from '../../http/exchange.ts';
import type { Bindings } from '../cel/vocabulary.ts';
import { computeReplacements, type FoundText, type Replacement, replaceComputed, SearchTurns } from './replacements.ts';

/**
 * Replaces in a body without a content coding. One that is not UTF-8 is searched byte by byte, and its other bytes stay.
 * @returns the new body, undefined when nothing was found, and what was found; or the reason why it was not searched.
 */
export async function replaceInBody(
  body: Buffer,
  replacements: readonly Replacement[],
  bindings: Bindings,
): Promise<{ body: Buffer | undefined; found: FoundText[] } | string> {
  const encoding = isUtf8(body) ? 'utf8' : 'latin1';
  const computed = computeReplacements(replacements, bindings);
  if (typeof computed === 'string') return computed;
  const replaced = await replaceComputed(body.toString(encoding), computed, new SearchTurns());
  if (typeof replaced === 'string') return replaced;
  const { text, found } = replaced;
  return { body: found.length > 0 ? Buffer.from(text, encoding) : undefined, found };
}

/** The content codings that the body of a response has now: what `compress-response` is going to encode has none yet. */
export function presentCodingsOf({ encoding, fields }: HttpResponse): string {
  return encoding ? '' : fields.all('content-encoding').join(',');
}

/** The variable of an action that replaces. */
export function replacementsResult(found: readonly FoundText[]): Record<string, CelInput> {
  const replacements = found.map(({ index, matched }) => ({
    replacement_index: BigInt(index),
    matched_content: matched,
  }));
  return { replacements };
}
