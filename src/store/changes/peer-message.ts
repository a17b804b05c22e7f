// Messages between gateway processes. They are validated like any input, because whoever can connect to the database can send them.

import type { Change, WriteAction } from './changes.ts';

export interface PeerMessage {
  /** The process that sends it. */
  node: string;
  changes?: Change[];
  /** A message by topic. */
  word?: { topic: string; body: object };
}

const ACTIONS: ReadonlySet<unknown> = new Set<WriteAction>(['CREATED', 'UPDATED', 'DELETED']);

/** Reads the payload of a notification. @returns undefined when it is not a message. */
export function readPeerMessage(payload: string): PeerMessage | undefined {
  let message: unknown;
  try {
    message = JSON.parse(payload);
  } catch {
    return undefined;
  }
  if (!isMap(message) || typeof message.node !== 'string') return undefined;
  const { changes, word } = message;
  if (changes !== undefined && !(Array.isArray(changes) && changes.every(isChange))) return undefined;
  if (word !== undefined && !(isMap(word) && typeof word.topic === 'string' && isMap(word.body))) return undefined;
  return message as unknown as PeerMessage;
}

function isChange(value: unknown): boolean {
  return isMap(value) && ACTIONS.has(value.action) && [value.kind, value.id, value.accountId].every(isText);
}

const isText = (value: unknown) => typeof value === 'string';

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
