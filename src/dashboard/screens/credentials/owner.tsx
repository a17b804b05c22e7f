// The owner of a credential or an API key.

import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { viewer } from '../../data/session/session.ts';
import { OwnerChoices, type OwnerNameFragment } from '../../generated/operations.ts';
import { Tag } from '../../ui/feedback/tag.tsx';
import { SelectField } from '../../ui/forms/choice-fields.tsx';
import type { FieldBinding } from '../../ui/forms/use-form-fields.ts';

export function ownerName(owner: OwnerNameFragment): string {
  return owner.__typename === 'User' ? owner.email : owner.name;
}

export function OwnerLink({ owner }: { owner: OwnerNameFragment }) {
  const kind = owner.__typename === 'User' ? 'user' : 'botUser';
  return (
    <>
      <a href={objectPath(kind, owner.id)}>{ownerName(owner)}</a> {!owner.active && <Tag variant="warn">inactive</Tag>}
    </>
  );
}

/** Whether the viewer may change what this owner holds. */
export function canManage({ id }: { id: string }): boolean {
  const currentViewer = viewer.value;
  return Boolean(currentViewer && (currentViewer.isAdmin || currentViewer.user.id === id));
}

/** A select box for admins; other users own what they create. The empty value is the viewer. */
export function OwnerField({ subject, ...field }: FieldBinding<string> & { subject: string }) {
  const { data } = useQuery(OwnerChoices, {}, { kinds: ['user', 'botUser'] });
  const currentViewer = viewer.value;
  if (!currentViewer?.isAdmin) return null;
  const { users, botUsers } = data ?? {};
  const others = [...(users?.nodes ?? []), ...(botUsers?.nodes ?? [])].filter(
    (owner) => owner.active && owner.id !== currentViewer.user.id,
  );
  const isTruncated = users?.pageInfo.hasNextPage || botUsers?.pageInfo.hasNextPage;
  const options = [
    { value: '', title: 'You' },
    ...others.map((owner) => ({
      value: owner.id,
      title: owner.__typename === 'User' ? owner.email : `${owner.name} (bot user)`,
    })),
  ];
  const help = `Only the holder and admins can change ${subject}. It works as long as its holder is active.`;
  return (
    <SelectField
      {...field}
      label="Held by"
      options={options}
      help={isTruncated ? `${help} The newest 100 users and bot users are offered.` : help}
    />
  );
}
