import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { type BotUserRowFragment, BotUsers } from '../../generated/operations.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Tag } from '../../ui/feedback/tag.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { ListTable } from '../../ui/list/list-table.tsx';
import { useListView } from '../../ui/list/use-list-view.ts';
import type { Column } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { isAdmin, tabs } from './navigation.ts';

const columns: Column<BotUserRowFragment>[] = [
  { key: 'name', member: 'name', title: 'Name', width: '2fr', cell: ({ name }) => name },
  {
    key: 'active',
    title: 'State',
    width: '7rem',
    cell: ({ active }) => (active ? 'active' : <Tag variant="warn">inactive</Tag>),
  },
  {
    key: 'created',
    isLabelled: true,
    member: 'created_at',
    title: 'Created',
    width: '8rem',
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
];

export function BotUserList() {
  const view = useListView('botUsers', BotUsers, (result) => result.botUsers, { kinds: ['botUser'] });
  const newBot = isAdmin() && (
    <LinkButton variant="primary" href={pathTo('access', 'bots', 'new')}>
      New bot user
    </LinkButton>
  );
  return (
    <Page
      title="Bot users"
      lead={`Owners of API keys and credentials that are no person.${isAdmin() ? '' : ' Only admins can change them.'}`}
      actions={newBot}
    >
      <Tabs label="Access" tabs={tabs} />
      <ListTable
        label="Bot users"
        columns={columns}
        view={view}
        nouns={['bot user', 'bot users']}
        href={({ id }) => objectPath('botUser', id)}
        empty={
          <EmptyState title="No bot users yet" action={newBot}>
            What a bot user holds stays when a person goes. It has the rights of a member.
          </EmptyState>
        }
      />
    </Page>
  );
}
