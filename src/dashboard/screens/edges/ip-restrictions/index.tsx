// IP restrictions of the account: the list, the form for a new one, and the page of one.

import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import {
  AccountIpRestriction,
  type AccountIpRestrictionRowFragment,
  AccountIpRestrictions,
  DeleteAccountIpRestriction,
} from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { ListTable } from '../../../ui/list/list-table.tsx';
import { useListView } from '../../../ui/list/use-list-view.ts';
import type { Column } from '../../../ui/table/table.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { DetailPage, NotYet } from '../detail-page.tsx';
import { listPaths, newPath, tabs } from '../navigation.ts';
import { IpRestrictionForm } from './form.tsx';
import { restrictionTypes } from './types.ts';

const crumbs = [{ title: 'IP restrictions', href: listPaths.restrictions }];
const titleOf = ({ type }: AccountIpRestrictionRowFragment) => restrictionTypes[type];

const columns: Column<AccountIpRestrictionRowFragment>[] = [
  { key: 'type', title: 'What it is about', width: '2fr', cell: titleOf },
  {
    key: 'enforced',
    isLabelled: true,
    title: 'Enforced',
    width: '7rem',
    cell: ({ enforced }) => (enforced ? 'yes' : 'no, only logged'),
  },
  {
    key: 'description',
    member: 'description',
    title: 'Description',
    width: '2fr',
    cell: ({ description }) => description,
    priority: 2,
  },
  {
    key: 'created',
    isLabelled: true,
    member: 'created_at',
    title: 'Created',
    width: '8rem',
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
    priority: 3,
  },
];

export function IpRestrictionList() {
  const view = useListView('accountIpRestrictions', AccountIpRestrictions, (result) => result.accountIpRestrictions, {
    kinds: ['accountIpRestriction'],
  });
  return (
    <Page
      title="IP restrictions"
      actions={
        <LinkButton variant="primary" href={newPath(listPaths.restrictions)}>
          New IP restriction
        </LinkButton>
      }
    >
      <Tabs label="Edges and what they use" tabs={tabs} />
      <ListTable
        label="IP restrictions"
        columns={columns}
        view={view}
        nouns={['IP restriction', 'IP restrictions']}
        consequence="The account can be used from anywhere again."
        href={({ id }) => objectPath('accountIpRestriction', id)}
        empty={
          <EmptyState
            title="No IP restrictions yet"
            action={<LinkButton href={newPath(listPaths.restrictions)}>New IP restriction</LinkButton>}
          >
            An IP restriction says from which addresses your account can be used: by visitors of all endpoints, agents,
            API keys, or people in the dashboard.
          </EmptyState>
        }
      />
    </Page>
  );
}

export function NewIpRestriction() {
  const { route } = useLocation();
  return (
    <Page title="New IP restriction" crumbs={crumbs}>
      <IpRestrictionForm
        onDone={(id) => route(objectPath('accountIpRestriction', id))}
        onCancel={() => route(listPaths.restrictions)}
      />
    </Page>
  );
}

export function IpRestrictionPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(AccountIpRestriction, { id }, { kinds: ['accountIpRestriction'] });
  const { route } = useLocation();
  const restriction = data?.accountIpRestriction;
  if (!restriction) return <NotYet title="IP restriction" crumbs={crumbs} error={error} refetch={refetch} />;
  return (
    <DetailPage
      title={titleOf(restriction)}
      crumbs={crumbs}
      noun="IP restriction"
      id={id}
      remove={DeleteAccountIpRestriction}
      consequence="The account can be used from anywhere again."
    >
      <Section title="Settings">
        <IpRestrictionForm
          key={id}
          restriction={restriction}
          onDone={() => toast('The IP restriction is changed.')}
          onCancel={() => route(listPaths.restrictions)}
        />
      </Section>
    </DetailPage>
  );
}
