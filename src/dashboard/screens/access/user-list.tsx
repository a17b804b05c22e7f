import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { viewer } from '../../data/session/session.ts';
import { type UserRowFragment, Users } from '../../generated/operations.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Tag } from '../../ui/feedback/tag.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { ListTable } from '../../ui/list/list-table.tsx';
import { useListView } from '../../ui/list/use-list-view.ts';
import type { Column } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { isAdmin, tabs } from './navigation.ts';

const columns: Column<UserRowFragment>[] = [
  {
    key: 'email',
    member: 'email',
    title: 'E-mail',
    width: '2fr',
    cell: ({ id, email }) => (
      <>
        {email} {id === viewer.value?.user.id && <Tag>you</Tag>}
      </>
    ),
  },
  { key: 'role', title: 'Role', width: '7rem', cell: ({ role }) => role.toLowerCase() },
  {
    key: 'active',
    title: 'State',
    width: '7rem',
    cell: ({ active }) => (active ? 'active' : <Tag variant="warn">shut out</Tag>),
  },
  {
    key: 'created',
    isLabelled: true,
    member: 'created_at',
    title: 'Added',
    width: '8rem',
    priority: 2,
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
];

export function UserList() {
  const view = useListView('users', Users, (result) => result.users, { kinds: ['user'] });
  return (
    <Page
      title="Users"
      lead={`The people of this account.${isAdmin() ? '' : ' Only admins can change them.'}`}
      actions={
        isAdmin() && (
          <LinkButton variant="primary" href={pathTo('access', 'users', 'new')}>
            New user
          </LinkButton>
        )
      }
    >
      <Tabs label="Access" tabs={tabs} />
      <ListTable
        label="Users"
        columns={columns}
        view={view}
        nouns={['user', 'users']}
        href={({ id }) => objectPath('user', id)}
      />
    </Page>
  );
}
