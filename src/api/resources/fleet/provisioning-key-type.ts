// Provisioning keys as the API shows them.

import type { Labels } from '../../../tunnel/endpoints/endpoint.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { requiredReference } from '../../collections/references.ts';
import { joined, related } from '../../collections/related.ts';
import { ApiError } from '../../errors/errors.ts';
import { Owner } from '../accounts/owner.ts';

/** @throws {ApiError} when a number is not from 1 to `max`. */
export function within(member: string, value: number, max: number): number {
  if (value < 1 || value > max) throw new ApiError('badProvisioningLimit', { member, max });
  return value;
}

export const ProvisioningKey = builder.prismaObject('ProvisioningKey', {
  description:
    'A key with which devices get a credential of their own each, so that many can be shipped with one image. What they may bind ' +
    'and how they are labelled is said here.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `pk_…`.' }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    description: t.exposeString('description', { description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
    acl: t.exposeStringList('acl', {
      description:
        'What the credentials may bind: rules in which `{name}` and `{hostname}` stand for those of the device.',
    }),
    labels: t.field({
      type: 'Labels',
      description: 'What the agents are labelled with.',
      select: { labels: true },
      resolve: ({ labels }) => labels as Labels,
    }),
    uses: t.exposeInt('uses', { description: 'How many devices have got a credential with it.' }),
    usesMax: t.exposeInt('usesMax', { nullable: true, description: 'How many may; null for any number.' }),
    expiresAt: t.expose('expiresAt', { type: 'Timestamp', nullable: true, description: 'Until when; null for ever.' }),
    revokedAt: t.expose('revokedAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When it was revoked; null when it was not.',
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When a device got a credential with it last; null when none has.',
    }),
    ownerId: t.exposeID('ownerId', {
      description: 'The id of the user or bot user who holds it, and the credentials.',
    }),
    owner: t.field({
      type: Owner,
      description: 'The user or bot user who holds it, and the credentials.',
      select: { ownerId: true },
      resolve: requiredReference(({ ownerId }) => ownerId),
    }),
    credentials: related(t, {
      ...{ kind: 'credential', on: joined('provisioned_device', 'provisioning_key_id', 'credential_id') },
      description: 'The credentials that devices have got with it.',
    }),
  }),
});
