// The labels of a tunnel without an address.

import { AgentError } from '../control/agent-errors.ts';
import type { Labels } from '../endpoints/endpoint.ts';
import { checkTextLimit } from './text-limits.ts';

/** The most labels of one tunnel, and the most bytes of a key or a value. A backend's selector has the same limits. */
const LABELS_MAX = 64;
const LABEL_MAX = 255;

/** What a bind token of a tunnel with labels is for, as an address is with other tunnels. */
export function labelsAddress(labels: Labels): string {
  return `labels:${JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))}`;
}

/** @throws {AgentError} when there are none or too many, or one is not a text that an edge can select. */
export function checkLabels(labels: Labels): void {
  const texts = Object.entries(labels).flat();
  if (texts.length === 0) throw new AgentError('noLabels');
  if (texts.length > 2 * LABELS_MAX)
    throw new AgentError('badText', { name: 'Labels', rule: `be at most ${LABELS_MAX}` });
  for (const text of texts) {
    checkTextLimit('Keys and values of labels', text, LABEL_MAX);
    if (text === '' || !text.isWellFormed())
      throw new AgentError('badText', { name: 'Keys and values of labels', rule: 'be texts of one character or more' });
  }
}
