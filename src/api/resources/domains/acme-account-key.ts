// Gives the gateway's account at the certificate authority another key.

import { newAccountKey } from '../../../acme/client/account-key.ts';
import { beginKeyChange } from '../../../store/certificates/acme-accounts.ts';
import { builder } from '../../builder/builder.ts';
import type { FieldAccess } from '../../collections/access.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';

const extensions = { adminsOnly: 'adminsOnly' } satisfies FieldAccess;

builder.mutationField('changeAcmeAccountKey', (t) =>
  t.boolean({
    nullable: false,
    extensions,
    description:
      'Gives the gateway’s account at the certificate authority another key (RFC 8555, section 7.3.5), for when the key may ' +
      'have got into other hands. `true` says that the new key is stored: the authority is asked at once to take it, and ' +
      'while it does not, again within an hour of work for certificates. The log tells when it has, or why it refuses, in which case the ' +
      'old key stays. Certificates go on being obtained meanwhile. While a change is under way, another call only has it ' +
      'tried now. Fails with `CONFLICT` when the gateway has no account yet, and when the operator has not agreed to the ' +
      'terms of an authority. Only admins may do this.',
    resolve: (_, __, context) => {
      const { keys, config } = context.app;
      if (!config.acmeTermsAgreed) throw new ApiError('certificatesOff');
      return context.act(async (db, announce) => {
        if (!(await beginKeyChange(db, keys, config.acmeDirectoryUrl, newAccountKey)))
          throw new ApiError('acmeAccountMissing');
        announce({ kind: 'acmeAccount', action: 'UPDATED', id: '', accountId: '' });
        return { result: true, acts: [{ action: 'ACME_KEY_CHANGED', kind: 'acmeAccount', objectId: '' }] };
      });
    },
  }),
);

/** There is no REST path for it. */
export const routes: Route[] = [];
