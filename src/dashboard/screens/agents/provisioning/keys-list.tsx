import { objectPath, pathTo } from '../../../data/routing/paths.ts';
import { type ProvisioningKeyRowFragment, ProvisioningKeys } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { Tag } from '../../../ui/feedback/tag.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { ListTable } from '../../../ui/list/list-table.tsx';
import { useListView } from '../../../ui/list/use-list-view.ts';
import type { Column } from '../../../ui/table/table.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { OwnerLink } from '../../credentials/owner.tsx';
import { LabelTags } from '../label-tags.tsx';
import { fleetTabs } from '../navigation.ts';

const NEW = pathTo('agents', 'keys', 'new');

const newKey = (
  <LinkButton variant="primary" href={NEW}>
    New provisioning key
  </LinkButton>
);

export function ProvisioningKeyList() {
  const view = useListView('provisioningKeys', ProvisioningKeys, (result) => result.provisioningKeys, {
    kinds: ['provisioningKey'],
  });
  return (
    <Page
      title="Provisioning keys"
      lead="With one, many devices get a credential of their own each, at their first start."
      actions={newKey}
    >
      <Tabs tabs={fleetTabs} label="Kinds of agents and keys" />
      <ListTable
        label="Provisioning keys"
        columns={columns}
        view={view}
        nouns={['provisioning key', 'provisioning keys']}
        consequence="No device gets a credential with them any more; those that have one keep it."
        href={({ id }) => objectPath('provisioningKey', id)}
        cardLines={3}
        empty={
          <EmptyState title="No provisioning keys yet" action={newKey}>
            A provisioning key goes into the image of devices in the place of an authtoken. Each device exchanges it for
            a credential of its own.
          </EmptyState>
        }
      />
    </Page>
  );
}

const columns: Column<ProvisioningKeyRowFragment>[] = [
  {
    key: 'description',
    member: 'description',
    title: 'Description',
    width: '2fr',
    cell: ({ description, id }) => description || id,
  },
  { key: 'state', title: 'State', width: '7rem', cell: (row) => <KeyState row={row} /> },
  { key: 'uses', title: 'Devices', width: '7rem', cell: usesText },
  { key: 'labels', title: 'Labels', width: '1.5fr', priority: 2, cell: ({ labels }) => <LabelTags labels={labels} /> },
  { key: 'owner', title: 'Held by', width: '1.5fr', priority: 3, cell: ({ owner }) => <OwnerLink owner={owner} /> },
  {
    key: 'used',
    isLabelled: true,
    member: 'last_used_at',
    title: 'Last used',
    width: '7rem',
    priority: 2,
    cell: ({ lastUsedAt }) => <RelativeTime at={lastUsedAt} />,
  },
];

/** How many devices have used a key, and may. */
export function usesText({ uses, usesMax }: Pick<ProvisioningKeyRowFragment, 'uses' | 'usesMax'>): string {
  const used = uses.toLocaleString('en');
  return usesMax === null || usesMax === undefined ? used : `${used} of ${usesMax.toLocaleString('en')}`;
}

/** Whether devices can get a credential with a key. */
export function KeyState({ row }: { row: ProvisioningKeyRowFragment }) {
  const { revokedAt, expiresAt, uses, usesMax } = row;
  if (revokedAt) return <Tag variant="bad">revoked</Tag>;
  if (expiresAt && Date.parse(expiresAt) <= Date.now()) return <Tag variant="warn">expired</Tag>;
  if (usesMax != null && uses >= usesMax) return <Tag variant="warn">used up</Tag>;
  return <Tag variant="good">valid</Tag>;
}
