// Provisioning keys: with one, many devices get a credential of their own each. In GraphQL only.

import { newSecret } from '../../../store/ids.ts';
import type { Labels } from '../../../tunnel/endpoints/endpoint.ts';
import { builder } from '../../builder/builder.ts';
import { showOnce } from '../../builder/payloads.ts';
import { changeOperation, mergeLabels } from '../../collections/bulk-change.ts';
import { bulkOperation } from '../../collections/bulk-operations.ts';
import { id, labels, NOTED_MEMBERS, texts, time } from '../../collections/members.ts';
import { givesObject, mutation } from '../../collections/mutation.ts';
import { resource } from '../../collections/resource.ts';
import type { Context } from '../../context.ts';
import { requireFound } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { checkLabelLimits } from '../../text-limits.ts';
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

const help = {
  acl:
    'What the credentials may bind, as in `createCredential`, where `{name}` and `{hostname}` stand for what the device says, as in ' +
    '`bind:{hostname}.devices.example.com`. An empty list is no restriction.',
  labels: 'What the agents are labelled with: at most 20, keys of 1 to 64 bytes without `=`, values of 1 to 128 bytes.',
  usesMax: `How many devices may get a credential, 1 to ${USES_MAX}`,
  validHours: `For how many hours from now on, 1 to ${HOURS_MAX}`,
};

const provisioningKeys = resource({
  kind: 'provisioningKey',
  model: 'ProvisioningKey',
  prefix: 'pk',
  path: '/provisioning_keys',
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
  audit: {
    name: 'provisioning_key',
    subject: 'A provisioning key',
    selection: 'id createdAt description metadata acl labels usesMax expiresAt revokedAt ownerId',
  },
  search: {
    ...{ rank: 45, table: 'provisioning_key', title: 't.description', detail: `array_to_string(t.acl, ', ')` },
    texts: [...NOTE_COLUMNS, `array_to_string(t.acl, ', ')`],
  },
  create: {
    secrets: {
      token: 'The key itself. Only the answer to `createProvisioningKey` has it; nobody can read it afterwards.',
    },
    description: 'Creates a provisioning key. Its `token` is shown here and never again.',
    note: 'Every member may be left out.',
    input: (t) => ({
      acl: t.stringList({ description: help.acl }),
      labels: t.field({ type: 'Labels', description: help.labels }),
      usesMax: t.int({ description: `${help.usesMax}; any number when left out.` }),
      validHours: t.int({ description: `${help.validHours}; for ever when left out.` }),
      ownerId: t.id({
        description: 'Who is to hold it and the credentials; you, when left out. Only admins may name another.',
      }),
    }),
    async write(input, context, id) {
      const token = newSecret(id);
      const { changes, ownerId } = await checkAll({
        changes: () => columnsOf(input, context.app.now()),
        ownerId: () => chooseOwner(context, input.ownerId),
      });
      const columns = { ...changes, digest: context.app.keys.digest(token), ownerId };
      return async (save) => showOnce(await save(columns), { token });
    },
  },
  update: {
    description: 'Changes a provisioning key. Credentials that devices have got already stay as they are.',
    note: 'It counts for devices from now on.',
    input: (t) => ({
      acl: t.stringList({ description: `${help.acl} Replaces the whole list.` }),
      labels: t.field({ type: 'Labels', description: `${help.labels} Replaces all of them.` }),
      usesMax: t.int({ description: `${help.usesMax}, those that have got one already included.` }),
      validHours: t.int({ description: `${help.validHours}.` }),
    }),
    write: checkChanges,
  },
  remove: {
    description:
      'Deletes a provisioning key. The credentials that devices have got with it stay, but no list tells them from others any more. ' +
      'Answers with its id.',
    check: checkHeld,
  },
});
export const { routes } = provisioningKeys;

interface Changes {
  acl?: string[] | null;
  labels?: Labels | null;
  usesMax?: number | null;
  validHours?: number | null;
}

/** @throws {ApiError} naming the members that are not valid. */
function columnsOf({ acl, labels, usesMax, validHours }: Changes, now: number) {
  return checkAll({
    acl: () => (acl ? checkAclTemplates(acl) : undefined),
    labels: () => (labels ? checkLabelLimits(labels, AGENT_LABELS) : undefined),
    usesMax: () => (usesMax == null ? undefined : within('usesMax', usesMax, USES_MAX)),
    expiresAt: () =>
      validHours == null ? undefined : new Date(now + within('validHours', validHours, HOURS_MAX) * HOUR_MS),
  });
}

/** @returns what changes. @throws {ApiError} when a member is not valid, or the key is not the caller's to change. */
async function checkChanges(changes: Changes, context: Context, id: string) {
  const columns = columnsOf(changes, context.app.now());
  await checkHeld(context, id);
  return columns;
}

const keyLabels = changeOperation<Labels>({
  ...{ kind: provisioningKeys.kind, table: 'provisioning_key', target: mergeLabels },
  async read({ db, accountId }, id) {
    const row = await db.provisioningKey.findUnique({ where: { id, accountId }, select: { labels: true } });
    return (row?.labels ?? null) as Labels | null;
  },
  async write(context, id, labels) {
    const data = await checkChanges({ labels }, context, id);
    const query = { where: { id, accountId: context.accountId }, data, select: { id: true } };
    return context.update(provisioningKeys, id, (db) => db.provisioningKey.update(query));
  },
});
bulkOperation(provisioningKeys.kind, 'CHANGE_LABELS', keyLabels);

const idArgument = 'The id of the provisioning key.';

mutation('revokeProvisioningKey', givesObject('provisioningKey'), (t) =>
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

mutation('endProvisionedCredentials', { gives: ['ended', 'What has ended, and whether there is more.'] }, (t) =>
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

async function checkHeld(context: Context, id: string): Promise<void> {
  const where = { id, accountId: context.accountId };
  const row = await context.db.provisioningKey.findUnique({ where, select: { ownerId: true } });
  checkHolder(context, requireFound(row, 'provisioning key'));
}
