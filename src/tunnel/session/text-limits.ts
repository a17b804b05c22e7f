// Texts that agents send and the API shows.

import { AgentError } from '../control/agent-errors.ts';

/** Bytes. */
export const METADATA_MAX = 4096;
export const FORWARDS_TO_MAX = 1024;
const TRUNCATED_MAX = 255;

/** @throws {AgentError} when a text is too long, or has a character that the database cannot hold. */
export function checkTextLimit(name: string, text: string, max: number): void {
  if (Buffer.byteLength(text) > max) throw new AgentError('badText', { name, rule: `be at most ${max} bytes` });
  if (text.includes('\0')) throw new AgentError('badText', { name, rule: 'not have a NUL character' });
}

/** What an agent says of itself, cut to what fits. */
export function truncateText(text: string): string {
  return text.replaceAll('\0', '').slice(0, TRUNCATED_MAX);
}
