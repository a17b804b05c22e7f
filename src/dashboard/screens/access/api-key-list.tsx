import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { type ApiKeyRowFragment, ApiKeys } from '../../generated/operations.ts';
import { LinkButton } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { ListTable } from '../../ui/list/list-table.tsx';
import { useListView } from '../../ui/list/use-list-view.ts';
import type { Column } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { OwnerLink } from '../credentials/owner.tsx';
import { tabs } from './navigation.ts';

/** The change feed has no events for uses of a key, so this is polled. */
const LAST_USED_POLL_MS = 30_000;

const columns: Column<ApiKeyRowFragment>[] = [
  {
    key: 'description',
    member: 'description',
    title: 'Description',
    width: '2fr',
    cell: ({ description, id }) => description || id,
  },
  {
    key: 'owner',
    member: 'owner_id',
    title: 'Held by',
    width: '1.5fr',
    cell: ({ owner }) => <OwnerLink owner={owner} />,
  },
  {
    key: 'used',
    isLabelled: true,
    member: 'last_used_at',
    title: 'Last used',
    width: '8rem',
    cell: ({ lastUsedAt }) => <RelativeTime at={lastUsedAt} fallback="never used" />,
  },
  {
    key: 'created',
    isLabelled: true,
    member: 'created_at',
    title: 'Created',
    width: '8rem',
    priority: 2,
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
];

const newKey = (
  <LinkButton variant="primary" href={pathTo('access', 'keys', 'new')}>
    New API key
  </LinkButton>
);

export function ApiKeyList() {
  const view = useListView('apiKeys', ApiKeys, (result) => result.apiKeys, {
    kinds: ['apiKey'],
    pollMs: LAST_USED_POLL_MS,
  });
  return (
    <Page title="API keys" lead="What programs use the API of this gateway with." actions={newKey}>
      <Tabs label="Access" tabs={tabs} />
      <ListTable
        label="API keys"
        columns={columns}
        view={view}
        nouns={['API key', 'API keys']}
        consequence="Programs that use them are refused from then on."
        href={({ id }) => objectPath('apiKey', id)}
        empty={
          <EmptyState title="No API keys yet" action={newKey}>
            A program that uses the API sends one with each request. You need none here: you are signed in.
          </EmptyState>
        }
      />
    </Page>
  );
}
