// Replacements in a text, for the actions that find and replace.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { compilePattern, type Pattern, RegexError } from '../cel/regex.ts';
import type { Template } from '../cel/template.ts';
import type { Bindings } from '../cel/vocabulary.ts';
import type { ConfigReader } from '../settings/action-kind.ts';
import { PROBLEM } from '../settings/problems.ts';

/** The largest body that is searched, in bytes. */
export const SEARCHED_MAX = 256 * 1024;
const ENTRIES_MAX = 10;
const TEXT_MAX = 8192;
/** What one search may cost (`Pattern.cost`): about 0.1 s of CPU, during which nothing else runs. */
const COST_MAX = 300_000;
/** What may be searched before others have their turn. */
const COST_PER_TURN = 30_000;

/** One replacement of a policy. */
export interface Replacement {
  from: Template;
  /** Of a constant `from`. */
  pattern: Pattern | undefined;
  to: Template;
}

/** What was found: the index of the replacement, and its first match. */
export interface FoundText {
  index: number;
  matched: string;
}

/** Reads `replacements`. */
export function readReplacements(config: ConfigReader): Replacement[] {
  return config.list('replacements', { min: 1, max: ENTRIES_MAX }).map(readReplacement);
}

/** Reads `from` and `to` of one of them. */
export function readReplacement(entry: ConfigReader): Replacement {
  const from = entry.template('from', { max: TEXT_MAX });
  const to = entry.template('to', { max: TEXT_MAX, default: '' });
  return { from, to, pattern: from.constant ? constantPattern(entry, from.constant) : undefined };
}

function constantPattern(config: ConfigReader, text: string): Pattern | undefined {
  try {
    return compilePattern(text);
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    config.problem('from', PROBLEM.regex, error.message);
    return undefined;
  }
}

/** A replacement whose templates are computed. */
export interface ComputedReplacement {
  pattern: Pattern;
  to: string;
}

/**
 * Computes the templates of replacements.
 * @returns a text when a computed pattern is none.
 * @throws {CelFailure} when a template has no value.
 */
export function computeReplacements(
  replacements: readonly Replacement[],
  bindings: Bindings,
): ComputedReplacement[] | string {
  try {
    return replacements.map(({ from, to, pattern }) => ({
      pattern: pattern ?? compilePattern(from.evaluate(bindings)),
      to: to.evaluate(bindings),
    }));
  } catch (error) {
    if (error instanceof RegexError) return `a pattern ${error.message}`;
    throw error;
  }
}

/** Gives others their turn between searches. */
export class SearchTurns {
  #spent = 0;

  /** Waits before a search of this cost, when it would be too much without a pause. */
  async spend(cost: number): Promise<void> {
    this.#spent += cost;
    if (this.#spent <= COST_PER_TURN) return;
    await nextTurn();
    this.#spent = cost;
  }
}

/**
 * Replaces all matches, one replacement after the other, each in the result of the one before. Other work has its turn
 * between them.
 * @returns the new text and what was found; or the reason, as a text, why nothing was replaced.
 */
export async function replaceComputed(
  text: string,
  replacements: readonly ComputedReplacement[],
  turns: SearchTurns,
): Promise<{ text: string; found: FoundText[] } | string> {
  const found: FoundText[] = [];
  let result = text;
  try {
    for (const [index, { pattern, to }] of replacements.entries()) {
      const cost = pattern.cost(result.length);
      if (cost > COST_MAX) return `replacements[${index}] is too much to search for in ${result.length} characters`;
      await turns.spend(cost);
      const [matched] = pattern.find(result) ?? [];
      if (matched === undefined) continue;
      found.push({ index, matched });
      result = pattern.replaceAll(result, to);
    }
  } catch (error) {
    if (error instanceof RegexError) return `a pattern ${error.message}`;
    throw error;
  }
  return { text: result, found };
}
