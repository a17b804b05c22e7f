// The member `auth` of all AWS targets: the role or the credentials that requests are signed with.

import { type Given, type ObjectMember, secretMember, type TargetShape, textMember } from '../descriptor.ts';
import { checkSecret, checkTargetMembers, requireMatch, TargetError } from '../target-error.ts';
import { arnErrors, checkRoleArn } from './arn.ts';

export type AwsTargetAuth = {
  role: { roleArn: string } | null;
  creds: { awsAccessKeyId: string; awsSecretAccessKey: string | null } | null;
};

const role: TargetShape = {
  name: 'AwsRole',
  description: 'A role that the gateway assumes to deliver events.',
  inputDescription: 'A role that the gateway assumes to deliver events.',
  members: {
    roleArn: textMember(
      'The ARN of the role.',
      'Required. The ARN of the role, as `arn:aws:iam::123456789012:role/delivery`.',
    ),
  },
};

const creds: TargetShape = {
  name: 'AwsCredentials',
  description: 'Long-term access keys of AWS.',
  inputDescription: 'Long-term access keys of AWS.',
  members: {
    awsAccessKeyId: textMember(
      'The id of the access key.',
      'Required. The id of the access key: 16 to 128 letters and digits.',
    ),
    awsSecretAccessKey: secretMember('The secret access key.', 'Required. The secret access key; at most 1024 bytes.'),
  },
};

const nullable = (shape: TargetShape, description: string): ObjectMember => {
  return { kind: 'object', isNullable: true, shape, description, inputDescription: description };
};

export const authMember: ObjectMember = {
  kind: 'object',
  isNullable: false,
  description: 'How the gateway proves itself.',
  inputDescription: 'Required. How the gateway proves itself.',
  shape: {
    name: 'AwsAuth',
    description: 'How the gateway proves itself to AWS: one member is set, the other is null.',
    inputDescription:
      'How the gateway proves itself to AWS: set one member, and leave out the other or set it to null.',
    members: { role: nullable(role, 'A role to assume.'), creds: nullable(creds, 'Access keys.') },
  },
};

/** The errors that all AWS targets share. */
export const awsErrors = {
  ...arnErrors,
  authMissing: { number: 5106, text: '{member} is required: role or creds.' },
  authEmpty: { number: 5107, text: '{member} must have role or creds.' },
  authBoth: { number: 5116, text: '{member} must have only one of role and creds.' },
  badAccessKeyId: { number: 240, text: '{member} must be 16 to 128 letters and digits.' },
};

/** @throws {TargetError} */
export function checkAuth(auth: Given<AwsTargetAuth> | null | undefined, member: string): AwsTargetAuth {
  if (!auth) throw new TargetError(awsErrors.authMissing, { member });
  const { role, creds } = auth;
  if (role && creds) throw new TargetError(awsErrors.authBoth, { member });
  if (role) return { role: { roleArn: checkRoleArn(role.roleArn, `${member}.role.roleArn`) }, creds: null };
  if (!creds) throw new TargetError(awsErrors.authEmpty, { member });
  const id = creds.awsAccessKeyId;
  const checked = checkTargetMembers({
    awsAccessKeyId: () =>
      requireMatch(id, `${member}.creds.awsAccessKeyId`, /^[A-Za-z0-9]{16,128}$/, awsErrors.badAccessKeyId),
    awsSecretAccessKey: () => checkSecret(creds.awsSecretAccessKey, `${member}.creds.awsSecretAccessKey`),
  });
  return { role: null, creds: checked };
}
