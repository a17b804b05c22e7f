import { useMemo } from 'preact/hooks';
import { useQuery } from '../../../data/hooks/use-query.ts';
import type { ListKind } from '../../../data/lists/list-kinds.ts';
import { OwnerChoices } from '../../../generated/operations.ts';
import type { Member } from './operators.ts';

const OWNER = 'owner_id';
const NONE: readonly Member[] = [];

/**
 * The members of a list, with the names of the owners that there are.
 * @param isNeeded whether the names are shown now.
 */
export function useMembers(kind: ListKind | undefined, isNeeded: boolean): readonly Member[] {
  const members = kind?.members ?? NONE;
  const hasOwner = members.some(({ name }) => name === OWNER);
  const { data } = useQuery(OwnerChoices, {}, { skip: !hasOwner || !isNeeded });
  return useMemo(() => {
    const pages = [data?.users, data?.botUsers];
    // Where there are more than a page, an id can still be typed.
    if (!data || pages.some((page) => !page || page.pageInfo.hasNextPage)) return members;
    const owners = [...(data.users?.nodes ?? []), ...(data.botUsers?.nodes ?? [])];
    const names = Object.fromEntries(
      owners.map((owner) => [owner.id, owner.__typename === 'User' ? owner.email : owner.name]),
    );
    return members.map((member) => (member.name === OWNER ? { ...member, names } : member));
  }, [members, data]);
}
