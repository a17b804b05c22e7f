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

/** The columns of an entry, and their types in the JSON that rows are written from: objects are texts there. */
const COLUMNS = {
  ...{
    id: 'text',
    account_id: 'text',
    created_at: 'timestamptz',
    source: 'text',
    actor_id: 'text',
    actor_subject: 'text',
  },
  ...{ credential_id: 'text', ip: 'text', user_agent: 'text', operation_id: 'text', action: 'text', kind: 'text' },
  ...{
    object_id: 'text',
    object_name: 'text',
    before: 'text',
    after: 'text',
    is_hidden_changed: 'boolean',
    words: 'text',
  },
};
const names = Object.keys(COLUMNS);
const NAMES = Prisma.raw(names.join());
const VALUES = Prisma.raw(names.map((name) => (/^(before|after)$/.test(name) ? `${name}::json` : name)).join());
const TYPES = Prisma.raw(
  Object.entries(COLUMNS)
    .map((column) => column.join(' '))
    .join(),
);

/** An entry as its row is written. */
export interface AuditRow {
  /** What tells of it once it is committed. */
  change: Change;
  columns: Readonly<Record<keyof typeof COLUMNS, string | boolean | null>>;
}

/** Makes the row of an entry. Texts, and members of objects, that are too long are cut. */
export function auditRow(entry: NewAuditEntry): AuditRow {
  const now = Date.now();
  const id = newId(AUDIT_PREFIX, now);
  const { accountId, source, actorId, credentialId, ip, operationId, action, kind, objectId } = entry;
  const [actorSubject, objectName, userAgent] = [
    cut(entry.actorSubject, TEXT_MAX),
    cut(entry.objectName, TEXT_MAX),
    cut(entry.userAgent, TEXT_MAX),
  ];
  const words = [actorSubject, objectName, objectId, ip, actorId, credentialId].join('\n');
  return {
    change: { kind: AUDIT_KIND, action: 'CREATED', id, accountId },
    columns: {
      ...{ id, account_id: accountId, created_at: new Date(now).toISOString(), source, actor_id: actorId },
      ...{ actor_subject: actorSubject, credential_id: credentialId, ip, user_agent: userAgent },
      ...{ operation_id: operationId, action, kind, object_id: objectId, object_name: objectName },
      ...{
        before: bounded(entry.before),
        after: bounded(entry.after),
        is_hidden_changed: entry.isHiddenChanged ?? false,
      },
      words: cut(words.toLowerCase(), WORDS_MAX),
    },
  };
}

/**
 * The INSERT of these rows, however many. It is SQL, as Prisma compiles `createMany` anew each time, at twice the price of all else that
 * it writes in a call of the API.
 */
export function auditInsert(rows: readonly AuditRow[]): Prisma.Sql {
  const json = JSON.stringify(rows.map(({ columns }) => columns));
  return Prisma.sql`
    INSERT INTO audit_entry (${NAMES}) SELECT ${VALUES} FROM json_to_recordset(${json}::json) AS entry (${TYPES})`;
}

/** Writes entries in one statement. @returns what is to be announced once they are committed. */
export async function insertAuditEntries(db: Db, entries: readonly NewAuditEntry[]): Promise<Change[]> {
  const rows = entries.map(auditRow);
  await db.$executeRaw(auditInsert(rows));
  return rows.map(({ change }) => change);
}

/** The database does not take half of a surrogate pair. */
const cut = (text: string, max: number) => text.slice(0, max).toWellFormed();

/** An object as JSON. Members that are too large are kept as their size alone. */
function bounded(object: object | undefined): string | null {
  if (object === undefined) return null;
  const members = Object.entries(object).flatMap(([name, value]) => {
    const text = JSON.stringify(value);
    if (text === undefined) return [];
    const kept = text.length > MEMBER_MAX ? JSON.stringify(`(${text.length} characters, not kept)`) : text;
    return [`${JSON.stringify(name)}:${kept}`];
  });
  return `{${members.join(',')}}`;
}
