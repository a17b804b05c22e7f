// How the certificate of a reserved domain is to be managed.

import { builder } from '../../builder/builder.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';

const AUTHORITY = 'letsencrypt';
const PRIVATE_KEY_TYPE = 'ecdsa';
const PRIVATE_KEY_TYPES = ['ecdsa', 'rsa'];

/** What a row of a reserved domain keeps of it. */
export interface Policy {
  authority: string;
  privateKeyType: string;
}

export const CertificateManagementPolicy = builder.objectRef<Policy>('CertificateManagementPolicy').implement({
  description: 'How the certificate of a reserved domain is to be obtained.',
  fields: (t) => ({
    authority: t.exposeString('authority', { description: 'Who is to issue it: `letsencrypt`.' }),
    privateKeyType: t.exposeString('privateKeyType', { description: 'The kind of its key: `ecdsa` or `rsa`.' }),
  }),
});

export const CertificateManagementPolicyInput = builder.inputType('CertificateManagementPolicyInput', {
  description: 'How the certificate is to be obtained.',
  fields: (t) => ({
    authority: t.string({ description: 'Who is to issue it: `letsencrypt`, which is also the default.' }),
    privateKeyType: t.string({ description: 'The kind of its key: `ecdsa`, the default, or `rsa`.' }),
  }),
});

/**
 * The policy that an input asks for: what it leaves out stays as it is, or takes its default; "" is the default.
 * @throws {ApiError} naming the members that are none of the known ones.
 */
export function readPolicy(
  { authority, privateKeyType }: typeof CertificateManagementPolicyInput.$inferInput,
  current: Policy = { authority: AUTHORITY, privateKeyType: PRIVATE_KEY_TYPE },
) {
  const policy = {
    authority: (authority ?? current.authority) || AUTHORITY,
    privateKeyType: (privateKeyType ?? current.privateKeyType) || PRIVATE_KEY_TYPE,
  };
  const place = 'certificateManagementPolicy';
  checkAll({
    authority() {
      if (policy.authority !== AUTHORITY)
        throw new ApiError('badCertificateAuthorityName', { member: `${place}.authority` });
    },
    privateKeyType() {
      if (!PRIVATE_KEY_TYPES.includes(policy.privateKeyType))
        throw new ApiError('badPrivateKeyType', { member: `${place}.privateKeyType` });
    },
  });
  return policy satisfies Policy;
}
