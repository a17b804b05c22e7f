// An entry of the audit trail, and who may see what of it.

import {
  AUDIT_ACTIONS,
  AUDIT_SOURCES,
  type AuditAction,
  type AuditSource,
} from '../../../store/audit/audit-actions.ts';
import { AUDIT_PREFIX } from '../../../store/audit/audit-entries.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/nodes.ts';
import { connectionOf } from '../../collections/page.ts';
import { reference, WHEN_GONE } from '../../collections/references.ts';
import type { Context } from '../../context.ts';
import { Owner } from '../accounts/owner.ts';

const described = <Name extends string>(values: Record<Name, string>) =>
  Object.fromEntries(
    Object.entries<string>(values).map(([name, description]) => [name, { value: name, description }]),
  ) as { [N in Name]: { value: N; description: string } };

export const AuditActionType = builder.enumType('AuditAction', {
  description: 'What was done.',
  values: described(AUDIT_ACTIONS),
});

const AuditSourceType = builder.enumType('AuditSource', {
  description: 'Through what something was done.',
  values: described(AUDIT_SOURCES),
});

/** Where somebody came from is that person's and the admins' business. */
const personal =
  <Row extends { actorId: string }>(text: (row: Row) => string) =>
  (row: Row, _: object, { caller }: Context): string | null =>
    caller.isAdmin || row.actorId === caller.ownerId ? text(row) || null : null;

const forWhom = 'Null where it is not known, and for members where it is of somebody else.';

export const AuditEntry = builder.prismaObject('AuditEntry', {
  description:
    'What somebody did: each write of an object of the account, each sign-in, and what else is told by `AuditAction`. ' +
    'It is kept for the days of `AUDIT_DAYS`.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: `Its id: \`${AUDIT_PREFIX}_…\`.` }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was done.' }),
    action: t.field({
      type: AuditActionType,
      description: 'What was done.',
      select: { action: true },
      resolve: ({ action }) => (action in AUDIT_ACTIONS ? (action as AuditAction) : 'OTHER'),
    }),
    source: t.field({
      type: AuditSourceType,
      description: 'Through what it was done.',
      select: { source: true },
      resolve: ({ source }) => source as AuditSource, // No other is written.
    }),
    actorId: t.id({
      nullable: true,
      description: 'The id of the user or bot user who did it; null for agents, strangers and the gateway itself.',
      select: { actorId: true },
      resolve: ({ actorId }) => actorId || null,
    }),
    actor: t.field({
      type: Owner,
      nullable: true,
      description: `The user or bot user who did it; null for agents, strangers and the gateway itself. ${WHEN_GONE}`,
      select: { actorId: true },
      resolve: reference(({ actorId }) => actorId || null),
    }),
    actorSubject: t.exposeString('actorSubject', {
      description: 'The e-mail address of the user or the name of the bot user, as it was; "" where there is none.',
    }),
    credentialId: t.id({
      nullable: true,
      description: `The id of the API key, the browser session or the credential of the agent. ${forWhom}`,
      select: { actorId: true, credentialId: true },
      resolve: personal(({ credentialId }) => credentialId),
    }),
    ip: t.string({
      nullable: true,
      description: `The address from which it was done. ${forWhom}`,
      select: { actorId: true, ip: true },
      resolve: personal(({ ip }) => ip),
    }),
    userAgent: t.string({
      nullable: true,
      description: `What the client called itself, at most 255 characters. ${forWhom}`,
      select: { actorId: true, userAgent: true },
      resolve: personal(({ userAgent }) => userAgent),
    }),
    operationId: t.id({
      nullable: true,
      description: `The operation, as in the answer’s \`Service-Operation-Id\` and in the log: \`op_…\`. ${forWhom}`,
      select: { actorId: true, operationId: true },
      resolve: personal(({ operationId }) => operationId),
    }),
    kind: t.exposeString('kind', { description: 'The kind of the object, as its look-up is called: `credential`.' }),
    objectId: t.id({
      nullable: true,
      description: 'The id of the object that it was done to, which may be gone; null where there is none.',
      select: { objectId: true },
      resolve: ({ objectId }) => objectId || null,
    }),
    object: t.field({
      type: Node,
      nullable: true,
      description: `The object that it was done to; null where there is none. ${WHEN_GONE}`,
      select: { objectId: true },
      resolve: reference(({ objectId }) => objectId || null),
    }),
    objectName: t.exposeString('objectName', {
      description: 'What people call the object, as it was: its name, address or description; "" where it has none.',
    }),
    before: t.expose('before', {
      type: 'Json',
      nullable: true,
      description:
        'The object as REST showed it before; of an update only the members that differ. Null where nothing was before.',
    }),
    after: t.expose('after', {
      type: 'Json',
      nullable: true,
      description: 'Likewise after it; of what is no write, the particulars of what was done. Never a secret.',
    }),
    hiddenChanged: t.exposeBoolean('isHiddenChanged', {
      description: 'Whether something was changed that is never shown, such as a password, and nothing else.',
    }),
  }),
});

export const AuditEntryConnection = connectionOf(AuditEntry, 'AuditEntry');
