// Messages between gateway processes. They are validated like any input, because whoever can connect to the database or the bus
// can send them.

import type { Change, WriteAction } from './changes.ts';

/** No bus has messages of more characters; a longer one is of somebody else. */
const MESSAGE_MAX = 64 * 1024;

export interface PeerMessage {
  /** The process that sends it. */
  node: string;
  changes?: Change[];
  /** Writes of configuration whose changes are all sent with this message; see `ChangeVersions`. */
  versions?: number[];
  /** Whether changes were lost on the sender's side. */
  gap?: true;
  /** A message by topic. */
  word?: { topic: string; body: object };
}

/** Changes to send. */
export interface CommittedChanges {
  changes: readonly Change[];
  /** The version of the write. Its changes are not divided between messages. */
  version?: number | undefined;
}

const ACTIONS: ReadonlySet<unknown> = new Set<WriteAction>(['CREATED', 'UPDATED', 'DELETED']);

/** Reads a message. @returns undefined when it is none. */
export function readPeerMessage(text: string): PeerMessage | undefined {
  if (text.length > MESSAGE_MAX) return undefined;
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isMap(message) || typeof message.node !== 'string') return undefined;
  const { changes, versions, gap, word } = message;
  if (changes !== undefined && !(Array.isArray(changes) && changes.every(isChange))) return undefined;
  if (versions !== undefined && !(Array.isArray(versions) && versions.every(Number.isSafeInteger))) return undefined;
  if (gap !== undefined && gap !== true) return undefined;
  if (word !== undefined && !(isMap(word) && typeof word.topic === 'string' && isMap(word.body))) return undefined;
  return message as unknown as PeerMessage;
}

/**
 * Packs changes into as few messages as they fit into, in their order. Changes that must not be divided, and do not fit into one
 * message, are replaced by a gap.
 * @param maxBytes the most bytes of a message.
 */
export function packChanges(node: string, all: readonly CommittedChanges[], maxBytes: number): string[] {
  const name = JSON.stringify(node);
  const room = maxBytes - Buffer.byteLength(`{"node":${name},"changes":[],"versions":[],"gap":true}`);
  const texts: string[] = [];
  let parts: string[] = [];
  let versions: number[] = [];
  let bytes = 0;
  let hasGap = false;
  const finish = () => {
    if (bytes === 0) return;
    const members = [`"node":${name}`];
    if (parts.length > 0) members.push(`"changes":[${parts.join()}]`);
    if (versions.length > 0) members.push(`"versions":[${versions.join()}]`);
    if (hasGap) members.push('"gap":true');
    texts.push(`{${members.join()}}`);
    [parts, versions, bytes, hasGap] = [[], [], 0, false];
  };
  for (const { changes, version } of all) {
    const own = changes.map((change) => JSON.stringify(change));
    const units = version === undefined ? own : [own.join()];
    const versionBytes = version === undefined ? 0 : String(version).length + 1;
    for (const unit of units) {
      const unitBytes = Buffer.byteLength(unit) + 1;
      const fits = unitBytes + versionBytes <= room;
      const added = versionBytes + (fits ? unitBytes : 1);
      if (bytes + added > room) finish();
      bytes += added;
      if (fits) parts.push(unit);
      else hasGap = true;
      if (version !== undefined) versions.push(version);
    }
  }
  finish();
  return texts;
}

function isChange(value: unknown): boolean {
  return isMap(value) && ACTIONS.has(value.action) && [value.kind, value.id, value.accountId].every(isText);
}

const isText = (value: unknown) => typeof value === 'string';

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
