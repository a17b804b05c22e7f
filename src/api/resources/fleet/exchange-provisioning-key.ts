// A device exchanges a provisioning key for a credential of its own. Strangers may, as the key is all that it has.

import { newId, newSecret } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { showOnce } from '../../builder/payloads.ts';
import { mutation } from '../../collections/mutation.ts';
import { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { DESCRIPTION_MAX_BYTES } from '../../text-limits.ts';
import { credentials } from '../credentials/credentials.ts';
import { aclOfDevice, type DeviceNames } from './acl-templates.ts';

const KEY_FORM = /^[0-9A-Za-z]{27}_[0-9A-Za-z]{24}$/;
const DEVICE_ID = /^[0-9A-Za-z_-]{16,64}$/;

const ExchangeProvisioningKeyInput = builder.inputType('ExchangeProvisioningKeyInput', {
  description: 'The key, and the device that has it.',
  fields: (t) => ({
    provisioningKey: t.string({ required: true, description: 'The provisioning key.' }),
    deviceId: t.string({
      required: true,
      description:
        'What the device is recognized by: 16 to 64 letters, digits, "-" or "_", random, and known to the device alone.',
    }),
    name: t.string({ description: 'What the device calls itself.' }),
    hostName: t.string({ description: 'The name of its host.' }),
  }),
});

interface Provisioned {
  credentialId: string;
  authtoken: string;
}

/** Agents in the field ask for these two by their names: they stay as they are. */
const payload = {
  ids: { credentialId: 'The id of the credential: `cr_…`.' },
  secrets: { authtoken: 'The authtoken, with which the device connects from now on. Nobody can read it afterwards.' },
};

mutation('exchangeProvisioningKey', payload, (t) =>
  t.field({
    type: 'Json',
    nullable: true,
    access: 'anyone',
    description:
      'Gives a device a credential of its own, which belongs to the owner of the provisioning key. It needs no API key. For a device ' +
      'that has one already, its authtoken is replaced by a new one, at once, and no further use is counted: so a device that lost the ' +
      'answer asks again.',
    args: {
      input: t.arg({ type: ExchangeProvisioningKeyInput, required: true, description: 'The key and the device.' }),
    },
    resolve: async (_, { input }, context) => {
      const { provisioningKey, deviceId } = input;
      if (!DEVICE_ID.test(deviceId)) throw new ApiError('badDeviceId', { member: 'deviceId' });
      const caller = await callerOf(context, provisioningKey);
      const { credentialId, authtoken } = await caller.inTransaction((within) => exchange(within, deviceId, input));
      return showOnce({ credentialId }, { authtoken });
    },
  }),
);

/** The device as a caller, for the owner of its key. @throws {ApiError} when the key is not known. */
async function callerOf({ app, operationId, baseUrl, client }: Context, key: string): Promise<Context> {
  const digests = KEY_FORM.test(key) ? app.keys.digests(key) : [];
  const row = await app.prisma.provisioningKey.findFirst({
    where: { digest: { in: digests }, owner: { active: true } },
    select: { id: true, accountId: true, digest: true, owner: { select: { id: true, subject: true } } },
  });
  if (!row) throw new ApiError('unknownProvisioningKey');
  const digest = app.keys.digest(key);
  // The digest is of the previous server key.
  if (row.digest !== digest) await app.prisma.provisioningKey.updateMany({ where: { id: row.id }, data: { digest } });
  const { id: ownerId, subject } = row.owner;
  const caller = { accountId: row.accountId, ownerId, subject, isAdmin: false, provisioningKeyId: row.id };
  return new Context(app, operationId, baseUrl, caller, client);
}

/** In a transaction in which the key is locked, so that devices which come at once are counted one after the other. */
async function exchange(context: Context, deviceId: string, names: DeviceNames): Promise<Provisioned> {
  const { db, app, accountId, caller } = context;
  const id = caller.provisioningKeyId ?? '';
  await db.$queryRaw`SELECT id FROM provisioning_key WHERE id = ${id} FOR UPDATE`;
  const key = await db.provisioningKey.findUnique({ where: { id } });
  if (!key) throw new ApiError('unknownProvisioningKey');
  const now = new Date(app.now());
  if (key.revokedAt) throw new ApiError('provisioningKeyOver', { reason: 'was revoked' });
  if (key.expiresAt && key.expiresAt <= now) throw new ApiError('provisioningKeyOver', { reason: 'has expired' });

  const digest = app.keys.digest(`device ${deviceId}`);
  const digests = app.keys.digests(`device ${deviceId}`);
  const known = await db.provisionedDevice.findFirst({ where: { keyId: id, digest: { in: digests } } });
  const credentialId = known?.credentialId ?? newId(credentials.prefix);
  const authtoken = newSecret(credentialId);
  const token = { digest: app.keys.digest(authtoken) };
  if (known) {
    const replaced = { ...token, tokenNumber: { increment: 1 }, previousDigest: null, previousValidUntil: null };
    await context.update(credentials, credentialId, (tx) =>
      tx.credential.update({ where: { id: credentialId }, data: replaced }),
    );
    return { credentialId, authtoken };
  }
  if (key.usesMax !== null && key.uses >= key.usesMax)
    throw new ApiError('provisioningKeyOver', {
      reason: `has been used by ${key.uses} devices, which is all that may`,
    });
  const { ownerId, labels } = key;
  const data = {
    ...{ id: credentialId, accountId, ownerId, labels: labels ?? {}, ...token, acl: aclOfDevice(key.acl, names) },
    description: describe(names),
  };
  await context.create(credentials, (tx) => tx.credential.create({ data }));
  await db.provisionedDevice.create({ data: { keyId: id, digest, credentialId } });
  await db.provisioningKey.update({ where: { id }, data: { uses: { increment: 1 }, lastUsedAt: now } });
  return { credentialId, authtoken };
}

function describe({ name, hostName }: DeviceNames): string {
  const text = name?.trim() || hostName?.trim() || 'provisioned device';
  return Buffer.byteLength(text) <= DESCRIPTION_MAX_BYTES ? text : 'provisioned device';
}

export const routes: Route[] = [];
