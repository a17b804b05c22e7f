// Looks up authtokens: the credential that they belong to, and what it allows.

import type { Grant, Registrar } from '../../tunnel/control/registrar.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { batched } from './batched.ts';
import type { RegistrarDeps } from './registrar-deps.ts';

const TOKEN_FORM = /^[0-9A-Za-z]{27}_[0-9A-Za-z]{24}$/;

type Grants = Pick<Registrar, 'authenticate' | 'grant' | 'onGrantChange'>;

const select = { id: true, accountId: true, acl: true, digest: true, owner: { select: { active: true } } } as const;

type Row = Prisma.CredentialGetPayload<{ select: typeof select }>;

export function createGrants({ prisma, keys, changes }: Pick<RegistrarDeps, 'prisma' | 'keys' | 'changes'>): Grants {
  const find = batched<string, Row | undefined>({
    keysOf: () => [],
    async work(authtokens) {
      const digests = authtokens.map((authtoken) => keys.digests(authtoken));
      const rows = await prisma.credential.findMany({
        where: { digest: { in: [...new Set(digests.flat())] } },
        select,
      });
      return digests.map((own) => rows.find(({ digest }) => own.includes(digest)));
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
      if (!row.owner.active) return { refused: 'authtokenInactive' };
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

function grantIfActive(row: Row | undefined): Grant | null {
  return row?.owner.active ? grantOf(row) : null;
}

function grantOf({ id, accountId, acl }: { id: string; accountId: string; acl: string[] }): Grant {
  return { credentialId: id, accountId, acl };
}
