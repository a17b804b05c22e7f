// The secrets within targets, found by the descriptors of their kinds.

import type { MemberDescriptor, MemberDescriptors } from './descriptor.ts';
import { descriptorOf, partsOf, type Target } from './index.ts';
import type { TargetErrorRow } from './target-error.ts';

export interface SecretPlace {
  /** The stable path of the secret, which its encryption is bound to: `<kind>.auth.creds.awsSecretAccessKey`. */
  path: string;
  /** The path of the secret in errors. It has the index of list items in place of their keys. */
  member: string;
  /** The error when the secret is missing. */
  missing: TargetErrorRow | 'targetMemberMissing';
}

export type SecretChange = (secret: string | null, place: SecretPlace) => string | null;

/** A copy of a target with each secret replaced by the result of `change`. */
export function mapSecrets(target: Target, change: SecretChange): Target {
  const [name, value] = partsOf(target);
  return { [name]: mapMembers(value, descriptorOf(name).members, { path: name, member: name }, change) };
}

type Place = Pick<SecretPlace, 'path' | 'member'>;

function mapMembers(value: object, members: MemberDescriptors, { path, member }: Place, change: SecretChange): object {
  const changed = Object.entries(value).map(([name, inner]) => {
    const place = { path: `${path}.${name}`, member: `${member}.${name}` };
    return [name, mapMember(inner, members[name], place, change)];
  });
  return Object.fromEntries(changed);
}

function mapMember(value: unknown, member: MemberDescriptor | undefined, place: Place, change: SecretChange): unknown {
  if (member?.kind === 'text' && member.isSecret)
    return change(value as string | null, { ...place, missing: member.missing ?? 'targetMemberMissing' });
  if (member?.kind === 'object' && value) return mapMembers(value, member.shape.members, place, change);
  if (member?.kind !== 'list') return value;
  return (value as Record<string, unknown>[]).map((item, index) => {
    const inner = { path: `${place.path}.${item[member.key]}`, member: `${place.member}[${index}]` };
    return mapMembers(item, member.shape.members, inner, change);
  });
}
