// How the certificate of a reserved domain is to be managed, and how far that has come.

import { builder } from '../../builder/builder.ts';
import { ApiError } from '../../errors/errors.ts';

const AUTHORITY = 'letsencrypt';
const PRIVATE_KEY_TYPE = 'ecdsa';
const PRIVATE_KEY_TYPES = ['ecdsa', 'rsa'];

/** The truth, as long as nothing here speaks ACME. */
const NOT_OBTAINED =
  'This gateway does not obtain certificates itself yet. Until it has one, visitors are shown one of its development ' +
  'authority. You can upload one: POST /tls_certificates (createTlsCertificate), then name it in the domain’s ' +
  'certificate_id (certificateId).';

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

/** A job that waits. */
interface Waiting {
  since: Date;
}

const ProvisioningJob = builder.objectRef<Waiting>('CertificateProvisioningJob').implement({
  description: 'The work of obtaining a certificate.',
  fields: (t) => ({
    errorCode: t.string({
      nullable: true,
      description: 'The code of the error that the last attempt met; null, as none has been made.',
      resolve: () => null,
    }),
    msg: t.string({ description: 'How things stand, for people.', resolve: () => NOT_OBTAINED }),
    startedAt: t.field({
      type: 'Timestamp',
      description: 'When the domain was reserved; nothing has been done since.',
      resolve: ({ since }) => since,
    }),
    retriesAt: t.field({
      type: 'Timestamp',
      nullable: true,
      description: 'When it is tried again; null, as it is not tried.',
      resolve: () => null,
    }),
  }),
});

export const CertificateManagementStatus = builder.objectRef<Waiting>('CertificateManagementStatus').implement({
  description: 'How far the certificate of a reserved domain has come.',
  fields: (t) => ({
    renewsAt: t.field({
      type: 'Timestamp',
      nullable: true,
      description: 'When the certificate is renewed; null, as there is none.',
      resolve: () => null,
    }),
    provisioningJob: t.field({
      type: ProvisioningJob,
      nullable: true,
      description: 'The work of obtaining the certificate.',
      resolve: (waiting) => waiting,
    }),
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
 * @throws {ApiError} naming the member that is none of the known ones.
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
  if (policy.authority !== AUTHORITY)
    throw new ApiError('badCertificateAuthorityName', { member: `${place}.authority` });
  if (!PRIVATE_KEY_TYPES.includes(policy.privateKeyType))
    throw new ApiError('badPrivateKeyType', { member: `${place}.privateKeyType` });
  return policy satisfies Policy;
}

export const certificateSelection =
  'certificateManagementPolicy { authority privateKeyType } ' +
  'certificateManagementStatus { renewsAt provisioningJob { errorCode msg startedAt retriesAt } }';
