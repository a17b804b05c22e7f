// The limits of texts that agents send and the API shows.

import { AgentError } from '../control/agent-errors.ts';

/** The most bytes of the texts that are refused when they are longer. */
export const METADATA_MAX = 4096;
export const FORWARDS_TO_MAX = 1024;
/** The most characters of a truncated text. */
const TRUNCATED_MAX = 255;

/**
 * Checks a text.
 * @param max the most bytes.
 * @throws {AgentError} when it is too long, or has a NUL character, which PostgreSQL cannot store.
 */
export function checkTextLimit(name: string, text: string, max: number): void {
  if (Buffer.byteLength(text) > max) throw new AgentError('badText', { name, rule: `be at most ${max} bytes` });
  if (text.includes('\0')) throw new AgentError('badText', { name, rule: 'not have a NUL character' });
}

/** Truncates a text by which an agent describes itself. */
export function truncateText(text: string): string {
  return text.replaceAll('\0', '').slice(0, TRUNCATED_MAX);
}

/** Checks the texts of a bind. @throws {AgentError} when one is too long. */
export function checkBindTexts({ metadata, forwardsTo }: { metadata: string; forwardsTo: string }): void {
  checkTextLimit('Metadata', metadata, METADATA_MAX);
  checkTextLimit('ForwardsTo', forwardsTo, FORWARDS_TO_MAX);
}
