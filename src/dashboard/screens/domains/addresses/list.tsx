// The reserved TCP addresses.

import { objectPath } from '../../../data/routing/paths.ts';
import { Addresses, type AddressRowFragment } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { ListTable } from '../../../ui/list/list-table.tsx';
import { useListView } from '../../../ui/list/use-list-view.ts';
import type { Column } from '../../../ui/table/table.tsx';
import { CopyButton } from '../../../ui/text/copy-button.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { newAddressPath, tabs } from '../navigation.ts';

const columns: Column<AddressRowFragment>[] = [
  { key: 'addr', member: 'addr', title: 'Address', width: '2fr', cell: ({ addr }) => addr },
  {
    key: 'copy',
    title: 'Copy',
    width: '3.5rem',
    priority: 2,
    cell: ({ addr }) => <CopyButton text={addr} label={`the address ${addr}`} showsText={false} />,
  },
  {
    key: 'description',
    member: 'description',
    title: 'Description',
    width: '2fr',
    cell: ({ description }) => description,
  },
  {
    key: 'created',
    isLabelled: true,
    member: 'created_at',
    title: 'Reserved',
    width: '8rem',
    priority: 2,
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
];

const newAddress = (
  <LinkButton variant="primary" href={newAddressPath}>
    Reserve a TCP address
  </LinkButton>
);

export function AddressList() {
  const view = useListView('reservedAddresses', Addresses, (result) => result.reservedAddresses, {
    kinds: ['reservedAddress'],
  });
  return (
    <Page title="TCP addresses" lead="Ports of the gateway that nobody but your account may use." actions={newAddress}>
      <Tabs label="Domains and addresses" tabs={tabs} />
      <ListTable
        label="Reserved TCP addresses"
        columns={columns}
        view={view}
        nouns={['address', 'addresses']}
        consequence="Anybody may have them then; a tunnel that serves one goes on."
        href={({ id }) => objectPath('reservedAddress', id)}
        empty={
          <EmptyState title="No TCP addresses yet" action={newAddress}>
            Agents get a port of the gateway without any. Reserve one where a device must be reached at the same port
            for good, by ssh for example.
          </EmptyState>
        }
      />
    </Page>
  );
}
