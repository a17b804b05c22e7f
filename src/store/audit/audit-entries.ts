// Entries of the audit trail: how they are written, and what is cut off of them.

import type { Change } from '../changes/changes.ts';
import type { Db } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import type { AuditAction, AuditSource } from './audit-actions.ts';

/** What ids of entries begin with, and their kind in the change feed. */
export const AUDIT_PREFIX = 'au';
export const AUDIT_KIND = 'auditEntry';

const TEXT_MAX = 255;
/** More characters of JSON than this of one member are not kept: certificates and policies fit. */
const MEMBER_MAX = 65_536;
/** Characters in which `text` is looked for. An entry of an index has no room for more. */
const WORDS_MAX = 600;

/** Who did something, and from where. Empty texts are what is not known. */
export interface AuditActor {
  accountId: string;
  source: AuditSource;
  /** The user or bot user; '' for agents and the gateway. */
  actorId: string;
  /** The e-mail address or the name, as it was. */
  actorSubject: string;
  /** The API key, the browser session, or the credential of the agent. */
  credentialId: string;
  ip: string;
  userAgent: string;
  operationId: string;
}

/** What was done to what. */
export interface AuditAct {
  action: AuditAction;
  /** The kind of the object, as its look-up in GraphQL is called. */
  kind: string;
  objectId: string;
  /** For people, as it was; '' when it has none. */
  objectName: string;
  /** As REST shows it, without secrets; left out where nothing was before. */
  before?: object;
  /** Likewise, or the particulars of what is no write. */
  after?: object;
  /** Whether something changed that is never shown, such as a secret. */
  isHiddenChanged?: boolean;
}

/** An entry that is about to be written. Its time is now. */
export type NewAuditEntry = AuditActor & AuditAct;

/** Writes entries in one statement. @returns what is to be announced once they are committed. */
export async function insertAuditEntries(db: Db, entries: readonly NewAuditEntry[]): Promise<Change[]> {
  const now = Date.now();
  const data = entries.map(({ before, after, isHiddenChanged = false, ...entry }) => {
    const [actorSubject, objectName] = [entry.actorSubject.slice(0, TEXT_MAX), entry.objectName.slice(0, TEXT_MAX)];
    const userAgent = entry.userAgent.slice(0, TEXT_MAX);
    const words = [actorSubject, objectName, entry.objectId, entry.ip, entry.actorId, entry.credentialId];
    return {
      ...{ ...entry, actorSubject, objectName, userAgent, isHiddenChanged },
      id: newId(AUDIT_PREFIX, now),
      createdAt: new Date(now),
      words: words.join('\n').toLowerCase().slice(0, WORDS_MAX),
      before: bounded(before),
      after: bounded(after),
    };
  });
  await db.auditEntry.createMany({ data });
  return data.map(({ id, accountId }) => ({ kind: AUDIT_KIND, action: 'CREATED', id, accountId }));
}

/** Members that are too large are kept as their size alone. */
function bounded(object: object | undefined): Prisma.InputJsonValue | typeof Prisma.DbNull {
  if (object === undefined) return Prisma.DbNull;
  const members = Object.entries(object).map(([name, value]) => {
    const size = (JSON.stringify(value) ?? '').length;
    return [name, size > MEMBER_MAX ? `(${size} characters, not kept)` : value];
  });
  return Object.fromEntries(members) as Prisma.InputJsonObject;
}
