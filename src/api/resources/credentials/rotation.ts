// The replacement of authtokens: for a while, the one before is accepted, too. In GraphQL only.

import { newSecret } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { showOnce } from '../../builder/payloads.ts';
import { givesObject, mutation } from '../../collections/mutation.ts';
import { ApiError } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import type { Route } from '../../route.ts';
import { onLiveNodes } from '../tunnels/live-tunnels.ts';
import { Credential, checkCredentialHeld, credentials } from './credentials.ts';

const SECOND_MS = 1000;
const OVERLAP_DEFAULT_S = 86_400;
const OVERLAP_MAX_S = 7_776_000;

interface Rotation {
  credentialId: string;
  tokenNumber: number;
  previousValidUntil: Date;
  previousLastUsedAt: Date | null;
}

const CredentialRotation = builder.objectRef<Rotation>('CredentialRotation').implement({
  description: 'The replacement of an authtoken that is under way: the one before is accepted, too.',
  fields: (t) => ({
    previousValidUntil: t.expose('previousValidUntil', {
      type: 'Timestamp',
      description: 'Until when the authtoken before is accepted. Sessions that were opened with it end then.',
    }),
    previousLastUsedAt: t.expose('previousLastUsedAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When an agent connected with it last since the replacement, to the minute; null when none has.',
    }),
    previousSessions: t.int({
      description: 'How many sessions there are now that were opened with it.',
      resolve: async ({ credentialId, tokenNumber }, _, context) =>
        context.db.tunnelSession.count({
          where: { credentialId, tokenNumber: { lt: tokenNumber }, ...(await onLiveNodes(context)) },
        }),
    }),
    previousAgents: t.int({
      description: 'How many agents connected with it last, also those that are offline now.',
      resolve: ({ credentialId, tokenNumber }, _, { db }) =>
        db.agent.count({ where: { credentialId, tokenNumber: { lt: tokenNumber } } }),
    }),
  }),
});

builder.prismaObjectField(Credential, 'rotation', (t) =>
  t.field({
    type: CredentialRotation,
    nullable: true,
    description: 'The replacement of its authtoken; null when none is under way.',
    select: { id: true, tokenNumber: true, previousDigest: true, previousValidUntil: true, previousLastUsedAt: true },
    resolve: ({ id, tokenNumber, previousDigest, previousValidUntil, previousLastUsedAt }, _, { app }) =>
      previousDigest !== null && previousValidUntil !== null && previousValidUntil.getTime() > app.now()
        ? { credentialId: id, tokenNumber, previousValidUntil, previousLastUsedAt }
        : null,
  }),
);

const idHelp = 'The id of the credential.';

mutation(
  'rotateCredential',
  { ...givesObject('credential'), secrets: { token: 'The new authtoken. Nobody can read it afterwards.' } },
  (t) =>
    t.prismaField({
      type: Credential,
      nullable: true,
      access: { kind: 'credential' },
      description:
        'Gives a credential a new authtoken, whose `token` is shown here and never again. The one before is accepted for a while, so ' +
        'that agents can be given the new one; then sessions that were opened with it end. Fails with `CONFLICT` while an earlier ' +
        'replacement is under way.',
      args: {
        id: t.arg.id({ required: true, description: idHelp }),
        overlapSeconds: t.arg.int({
          description: `How long the authtoken before is accepted, 0 to ${OVERLAP_MAX_S} seconds; a day when left out.`,
        }),
        ...idempotencyKeyArgument,
      },
      resolve: async (query, _, { id, overlapSeconds }, context) => {
        const { app, accountId } = context;
        const overlap = overlapSeconds ?? OVERLAP_DEFAULT_S;
        if (overlap < 0 || overlap > OVERLAP_MAX_S)
          throw new ApiError('badOverlap', { member: 'overlapSeconds', max: OVERLAP_MAX_S });
        await checkCredentialHeld(context, id);
        const token = newSecret(id);
        const where = { id, accountId };
        const credential = await context.update(credentials, id, async (db) => {
          await db.$queryRaw`SELECT id FROM credential WHERE id = ${id} FOR UPDATE`;
          const { digest, previousValidUntil } = await db.credential.findUniqueOrThrow({ where });
          if (previousValidUntil && previousValidUntil.getTime() > app.now()) throw new ApiError('rotationUnderWay');
          const previous = overlap === 0 ? null : new Date(app.now() + overlap * SECOND_MS);
          return db.credential.update({
            ...query,
            where,
            data: {
              digest: app.keys.digest(token),
              tokenNumber: { increment: 1 },
              previousDigest: previous && digest,
              previousValidUntil: previous,
              previousLastUsedAt: null,
            },
          });
        });
        return showOnce(credential, { token });
      },
    }),
);

mutation('finishRotation', givesObject('credential'), (t) =>
  t.prismaField({
    type: Credential,
    nullable: true,
    access: { kind: 'credential' },
    description:
      'Ends the replacement of an authtoken at once: the one before is refused from now on, and sessions that were opened with it ' +
      'end. Of a credential without one that is under way, nothing changes.',
    args: { id: t.arg.id({ required: true, description: idHelp }) },
    resolve: async (query, _, { id }, context) => {
      await checkCredentialHeld(context, id);
      const data = { previousDigest: null, previousValidUntil: null, previousLastUsedAt: null };
      const where = { id, accountId: context.accountId };
      return context.update(credentials, id, (db) => db.credential.update({ ...query, where, data }));
    },
  }),
);

export const routes: Route[] = [];
