// Looks up authtokens: the credential that they belong to, and what it allows.

import type { Grant, Registrar } from '../../tunnel/control/registrar.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { batched } from './batched.ts';
import type { RegistrarDeps } from './registrar-deps.ts';

const TOKEN_FORM = /^[0-9A-Za-z]{27}_[0-9A-Za-z]{24}$/;

type Grants = Pick<Registrar, 'authenticate' | 'grant' | 'onGrantChange'>;

/** How exactly it is kept when an authtoken was used that is being replaced, in milliseconds. */
const LAST_USE_MS = 60_000;

const select = {
  id: true,
  accountId: true,
  acl: true,
  digest: true,
  tokenNumber: true,
  previousDigest: true,
  previousValidUntil: true,
  previousLastUsedAt: true,
  owner: { select: { active: true } },
} as const;

type Row = Prisma.CredentialGetPayload<{ select: typeof select }>;

type GrantDeps = Pick<RegistrarDeps, 'prisma' | 'keys' | 'changes' | 'now'>;

export function createGrants(deps: GrantDeps): Grants {
  const { prisma, keys, changes, now } = deps;
  const find = batched<string, Row | undefined>({
    keysOf: () => [],
    async work(authtokens) {
      const digests = authtokens.map((authtoken) => keys.digests(authtoken));
      const all = { in: [...new Set(digests.flat())] };
      const rows = await prisma.credential.findMany({
        where: { OR: [{ digest: all }, { previousDigest: all }] },
        select,
      });
      return digests.map((own) =>
        rows.find(({ digest, previousDigest }) => own.includes(digest) || own.includes(previousDigest ?? '')),
      );
    },
  });
  const grant = batched<string, Grant | null>({
    keysOf: () => [],
    async work(ids) {
      const rows = await prisma.credential.findMany({ where: { id: { in: [...new Set(ids)] } }, select });
      const byId = new Map(rows.map((row) => [row.id, row]));
      return ids.map((id) => grantIfActive(byId.get(id)));
    },
  });
  return {
    async authenticate(authtoken) {
      if (!TOKEN_FORM.test(authtoken)) return { refused: 'authtokenMalformed' };
      const row = await find(authtoken);
      if (!row) return { refused: 'authtokenUnknown' };
      const isNewest = keys.digests(authtoken).includes(row.digest);
      if (!isNewest && !isAccepted(row, now())) return { refused: 'authtokenUnknown' };
      if (!row.owner.active) return { refused: 'authtokenInactive' };
      if (!isNewest) return authenticatePrevious(deps, row, authtoken);
      const digest = keys.digest(authtoken);
      // The digest is of the previous server key. updateMany does not fail if the credential was deleted meanwhile.
      if (row.digest !== digest) await prisma.credential.updateMany({ where: { id: row.id }, data: { digest } });
      return grantOf(row);
    },

    grant,

    onGrantChange(listener) {
      const stops = [
        changes.listen(({ kind, action, id }) => {
          if (action === 'CREATED') return;
          if (kind === 'credential') listener(id);
          if (kind === 'user' || kind === 'botUser') listener(null); // The change does not name the credentials of the owner.
        }),
        changes.onGap(() => listener(null)),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

/** Whether the authtoken before the newest is accepted still. */
function isAccepted({ previousValidUntil }: Row, now: number): boolean {
  return previousValidUntil !== null && previousValidUntil.getTime() > now;
}

/** Notes that an authtoken which is being replaced was used. */
async function authenticatePrevious({ prisma, keys, now }: GrantDeps, row: Row, authtoken: string): Promise<Grant> {
  const { id, previousDigest, previousLastUsedAt } = row;
  const isRecent = now() - (previousLastUsedAt?.getTime() ?? 0) < LAST_USE_MS;
  const data = { previousLastUsedAt: new Date(now()), previousDigest: keys.digest(authtoken) };
  // The rotation may end at this moment: it must not be undone.
  if (!isRecent || previousDigest !== data.previousDigest)
    await prisma.credential.updateMany({ where: { id, previousDigest }, data });
  return { ...grantOf(row), tokenNumber: row.tokenNumber - 1 };
}

function grantIfActive(row: Row | undefined): Grant | null {
  return row?.owner.active ? grantOf(row) : null;
}

function grantOf({ id, accountId, acl, tokenNumber, previousValidUntil }: Row): Grant {
  return { credentialId: id, accountId, acl, tokenNumber, previousUntil: previousValidUntil?.getTime() ?? null };
}
