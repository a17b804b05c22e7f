// Provisioning keys: with one, many devices get a credential of their own each. In GraphQL only.

import { newId, newSecret } from '../../../store/ids.ts';
import type { Labels } from '../../../tunnel/endpoints/endpoint.ts';
import { builder } from '../../builder/builder.ts';
import { changeOperation, mergeLabels } from '../../collections/bulk-change.ts';
import { bulkOperation } from '../../collections/bulk-operations.ts';
import { collection, deleteMutation } from '../../collections/collection.ts';
import { id, labels, NOTED_MEMBERS, texts, time } from '../../collections/members.ts';
import type { Context } from '../../context.ts';
import { requireFound } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import type { Route } from '../../route.ts';
import { checkLabelLimits, checkTexts } from '../../text-limits.ts';
import { checkHolder, chooseOwner } from '../accounts/owner.ts';
import { credentials } from '../credentials/credentials.ts';
import { checkAclTemplates } from './acl-templates.ts';
import { AGENT_LABELS } from './agents.ts';
import { ProvisioningKey, within } from './provisioning-key-type.ts';

const USES_MAX = 1_000_000;
const HOURS_MAX = 87_600;
const HOUR_MS = 3_600_000;
/** How many credentials are ended in one go. */
const ENDED_MAX = 200;

const provisioningKeys = collection({
  kind: 'provisioningKey',
  prefix: 'pk',
  path: '/provisioning_keys',
  single: 'provisioningKey',
  plural: 'provisioningKeys',
  typeName: 'ProvisioningKey',
  ref: ProvisioningKey,
  members: {
    ...NOTED_MEMBERS,
    owner_id: id('ownerId'),
    acl: texts('acl'),
    labels: labels('labels'),
    expires_at: time('expiresAt', { isNullable: true, isOrdered: false }),
    revoked_at: time('revokedAt', { isNullable: true, isOrdered: false }),
    last_used_at: time('lastUsedAt', { isNullable: true }),
  },
  table: (db) => db.provisioningKey,
  audit: {
    name: 'provisioning_key',
    subject: 'A provisioning key',
    selection: 'id createdAt description metadata acl labels usesMax expiresAt revokedAt ownerId',
  },
  search: {
    ...{ rank: 45, table: 'provisioning_key', title: 't.description', detail: `array_to_string(t.acl, ', ')` },
    texts: [...NOTE_COLUMNS, `array_to_string(t.acl, ', ')`],
  },
});

const help = {
  acl:
    'What the credentials may bind, as in `createCredential`, where `{name}` and `{hostname}` stand for what the device says, as in ' +
    '`bind:{hostname}.devices.example.com`. An empty list is no restriction.',
  labels: 'What the agents are labelled with: at most 20, keys of 1 to 64 bytes without `=`, values of 1 to 128 bytes.',
  usesMax: `How many devices may get a credential, 1 to ${USES_MAX}`,
  validHours: `For how many hours from now on, 1 to ${HOURS_MAX}`,
};

const CreateProvisioningKeyInput = builder.inputType('CreateProvisioningKeyInput', {
  description: 'A new provisioning key. Every member may be left out.',
  fields: (t) => ({
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
    acl: t.stringList({ description: help.acl }),
    labels: t.field({ type: 'Labels', description: help.labels }),
    usesMax: t.int({ description: `${help.usesMax}; any number when left out.` }),
    validHours: t.int({ description: `${help.validHours}; for ever when left out.` }),
    ownerId: t.id({
      description: 'Who is to hold it and the credentials; you, when left out. Only admins may name another.',
    }),
  }),
});

const UpdateProvisioningKeyInput = builder.inputType('UpdateProvisioningKeyInput', {
  description: 'What to change, for devices from now on; a member left out or null stays as it is.',
  fields: (t) => ({
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
    acl: t.stringList({ description: `${help.acl} Replaces the whole list.` }),
    labels: t.field({ type: 'Labels', description: `${help.labels} Replaces all of them.` }),
    usesMax: t.int({ description: `${help.usesMax}, those that have got one already included.` }),
    validHours: t.int({ description: `${help.validHours}.` }),
  }),
});

type Changes = typeof UpdateProvisioningKeyInput.$inferInput;

/** @throws {ApiError} when a member is not valid. */
function columnsOf(input: Changes, now: number) {
  const { acl, labels, usesMax, validHours } = input;
  return {
    ...checkTexts(input),
    acl: acl ? checkAclTemplates(acl) : undefined,
    labels: labels ? checkLabelLimits(labels, AGENT_LABELS) : undefined,
    usesMax: usesMax == null ? undefined : within('usesMax', usesMax, USES_MAX),
    expiresAt: validHours == null ? undefined : new Date(now + within('validHours', validHours, HOURS_MAX) * HOUR_MS),
  };
}

builder.mutationField('createProvisioningKey', (t) =>
  t.prismaField({
    type: ProvisioningKey,
    nullable: true,
    access: { kind: 'provisioningKey' },
    description: 'Creates a provisioning key. Its `token` is shown here and never again.',
    args: {
      input: t.arg({ type: CreateProvisioningKeyInput, required: true, description: 'The provisioning key.' }),
      ...idempotencyKeyArgument,
    },
    resolve: async (query, _, { input }, context) => {
      const { accountId, app } = context;
      const id = newId(provisioningKeys.prefix);
      const token = newSecret(id);
      const data = {
        ...{ ...columnsOf(input, app.now()), id, accountId, digest: app.keys.digest(token) },
        ownerId: await chooseOwner(context, input.ownerId),
      };
      const key = await context.create(provisioningKeys, (db) => db.provisioningKey.create({ ...query, data }));
      return { ...key, token };
    },
  }),
);

const idArgument = 'The id of the provisioning key.';

builder.mutationField('updateProvisioningKey', (t) =>
  t.prismaField({
    type: ProvisioningKey,
    nullable: true,
    access: { kind: 'provisioningKey' },
    description: 'Changes a provisioning key. Credentials that devices have got already stay as they are.',
    args: {
      id: t.arg.id({ required: true, description: idArgument }),
      input: t.arg({ type: UpdateProvisioningKeyInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => changeKey(context, id, input, query),
  }),
);

async function changeKey(context: Context, id: string, input: Parameters<typeof columnsOf>[0], query: object) {
  const data = columnsOf(input, context.app.now());
  await checkHeld(context, id);
  const where = { id, accountId: context.accountId };
  return context.update(provisioningKeys, id, (db) => db.provisioningKey.update({ ...query, where, data }));
}

const keyLabels = changeOperation<Labels>({
  ...{ kind: provisioningKeys.kind, table: 'provisioning_key', target: mergeLabels },
  async read({ db, accountId }, id) {
    const row = await db.provisioningKey.findUnique({ where: { id, accountId }, select: { labels: true } });
    return (row?.labels ?? null) as Labels | null;
  },
  write: (context, id, labels) => changeKey(context, id, { labels }, { select: { id: true } }),
});
bulkOperation(provisioningKeys.kind, 'CHANGE_LABELS', keyLabels);

builder.mutationField('revokeProvisioningKey', (t) =>
  t.prismaField({
    type: ProvisioningKey,
    nullable: true,
    access: { kind: 'provisioningKey' },
    description:
      'Revokes a provisioning key: no device gets a credential with it any more. Those that have one keep it.',
    args: { id: t.arg.id({ required: true, description: idArgument }) },
    resolve: async (query, _, { id }, context) => {
      await checkHeld(context, id);
      const where = { id, accountId: context.accountId };
      return context.update(provisioningKeys, id, async (db) => {
        const now = new Date(context.app.now());
        await db.provisioningKey.updateMany({ where: { ...where, revokedAt: null }, data: { revokedAt: now } });
        return db.provisioningKey.findUniqueOrThrow({ ...query, where });
      });
    },
  }),
);

const EndedCredentials = builder.objectRef<{ ended: number; remaining: number }>('EndedCredentials').implement({
  description: 'What came of ending the credentials of a provisioning key.',
  fields: (t) => ({
    ended: t.exposeInt('ended', { description: 'How many were deleted.' }),
    remaining: t.exposeInt('remaining', { description: 'How many are left, to be deleted by the next call.' }),
  }),
});

builder.mutationField('endProvisionedCredentials', (t) =>
  t.field({
    type: EndedCredentials,
    nullable: true,
    access: { kind: null },
    description:
      `Deletes credentials that devices have got with a provisioning key, at most ${ENDED_MAX} in one call: their sessions end, and ` +
      'they get no other one while the key is revoked.',
    args: { id: t.arg.id({ required: true, description: idArgument }) },
    resolve: async (_, { id }, context) => {
      await checkHeld(context, id);
      const where = { keyId: id };
      const devices = await context.db.provisionedDevice.findMany({
        where,
        orderBy: { credentialId: 'desc' },
        take: ENDED_MAX,
      });
      for (const { credentialId } of devices)
        await context.remove(credentials, credentialId, (db) => db.credential.delete({ where: { id: credentialId } }));
      return { ended: devices.length, remaining: await context.db.provisionedDevice.count({ where }) };
    },
  }),
);

deleteMutation(provisioningKeys, 'deleteProvisioningKey', {
  description:
    'Deletes a provisioning key. The credentials that devices have got with it stay, but no list tells them from others any more. ' +
    'Answers with its id.',
  check: checkHeld,
});

async function checkHeld(context: Context, id: string): Promise<void> {
  const where = { id, accountId: context.accountId };
  const row = await context.db.provisioningKey.findUnique({ where, select: { ownerId: true } });
  checkHolder(context, requireFound(row, 'provisioning key'));
}

export const routes: Route[] = [];
