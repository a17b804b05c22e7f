// The gateway's account at the certificate authority: another key, or another account.

import { newAccountKey } from '../../../acme/client/account-key.ts';
import { beginKeyChange, renewAccount } from '../../../store/certificates/acme-accounts.ts';
import { endWaits, resumeSuspended } from '../../../store/certificates/managed-certificates.ts';
import { mutation } from '../../collections/mutation.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { checkOperator } from '../accounts/operators.ts';

mutation('changeAcmeAccountKey', { gives: ['isStored', 'Whether the new key is stored: true.'] }, (t) =>
  t.boolean({
    nullable: false,
    access: { kind: null, adminsOnly: 'adminsOnly' },
    description:
      'Gives the gateway’s account at the certificate authority another key (RFC 8555, section 7.3.5), for when the key may ' +
      'have got into other hands. `true` says that the new key is stored: the authority is asked at once to take it, and ' +
      'while it does not, again within an hour of work for certificates. The log tells when it has, or why it refuses, in which case the ' +
      'old key stays. Certificates go on being obtained meanwhile. While a change is under way, another call only has it ' +
      'tried now. Fails with `CONFLICT` when the gateway has no account yet, and when the operator has not agreed to the ' +
      'terms of an authority. Only admins of the first account may do this.',
    resolve: async (_, __, context) => {
      const { keys, config } = context.app;
      if (!config.acmeTermsAgreed) throw new ApiError('certificatesOff');
      await checkOperator(context);
      return context.act(async (db, announce) => {
        if (!(await beginKeyChange(db, keys, config.acmeDirectoryUrl, newAccountKey)))
          throw new ApiError('acmeAccountMissing');
        announce({ kind: 'acmeAccount', action: 'UPDATED', id: '', accountId: '' });
        return { result: true, acts: [{ action: 'ACME_KEY_CHANGED', kind: 'acmeAccount', objectId: '' }] };
      });
    },
  }),
);

mutation('replaceAcmeAccount', { gives: ['isGivenUp', 'Whether the account is given up: true.'] }, (t) =>
  t.boolean({
    nullable: false,
    access: { kind: null, adminsOnly: 'adminsOnly' },
    description:
      'Gives up the gateway’s account at the certificate authority, and registers a new one with a new key, for when the ' +
      'authority accepts nothing from it any more. One that the authority says to be unknown or deactivated is replaced by ' +
      'itself. Orders under way are placed again, certificates in force stay, and those that were paused because of the ' +
      'account are tried at once. `true` says that the account is given up; the log tells when the authority refuses a new ' +
      'one. An external account (`ACME_EAB_KID`) is used again: many authorities want a new one first. Fails with `CONFLICT` ' +
      'when the gateway has no account yet, and when the operator has not agreed to the terms of an authority. Only admins ' +
      'of the first account may do this.',
    resolve: async (_, __, context) => {
      const { keys, config, now } = context.app;
      if (!config.acmeTermsAgreed) throw new ApiError('certificatesOff');
      await checkOperator(context);
      return context.act(async (db, announce) => {
        if (!(await renewAccount(db, keys, config.acmeDirectoryUrl, newAccountKey)))
          throw new ApiError('acmeAccountMissing');
        await resumeSuspended(db, now());
        announce({ kind: 'acmeAccount', action: 'UPDATED', id: '', accountId: '' });
        announce({ kind: 'domainCertificate', action: 'UPDATED', id: '', accountId: '' });
        return { result: true, acts: [{ action: 'ACME_ACCOUNT_REPLACED', kind: 'acmeAccount', objectId: '' }] };
      });
    },
  }),
);

mutation('endCertificateWaits', { gives: ['certificates', 'How many certificates waited.'] }, (t) =>
  t.int({
    nullable: false,
    access: { kind: null, adminsOnly: 'adminsOnly' },
    description:
      'Ends every wait that the certificate authority has asked for, for when it was asked for by mistake, or by something ' +
      'that answered in place of the authority: what waits for it is tried now. Gives the number of certificates. The ' +
      'gateway never waits longer than 7 days after the status 429, and 6 hours after any other answer. The limits that it ' +
      'keeps itself still hold. Fails with `CONFLICT` when the operator has not agreed to the terms of an authority. Only ' +
      'admins of the first account may do this.',
    resolve: async (_, __, context) => {
      const { config, now } = context.app;
      if (!config.acmeTermsAgreed) throw new ApiError('certificatesOff');
      await checkOperator(context);
      return context.act(async (db, announce) => {
        const result = await endWaits(db, config.acmeDirectoryUrl, now());
        announce({ kind: 'acmeAccount', action: 'UPDATED', id: '', accountId: '' });
        announce({ kind: 'domainCertificate', action: 'UPDATED', id: '', accountId: '' });
        return { result, acts: [{ action: 'CERTIFICATE_WAITS_ENDED', kind: 'acmeAccount', objectId: '' }] };
      });
    },
  }),
);

/** There are no REST paths for them. */
export const routes: Route[] = [];
