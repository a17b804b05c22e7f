// The page of a reserved TCP address, with the command that serves it.

import { useState } from 'preact/hooks';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { Address, AddressEndpoint } from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { AuditHistory } from '../../../ui/history/audit-history.tsx';
import { LoadingPage } from '../../../ui/layout/loading-page.tsx';
import { MetadataSection } from '../../../ui/layout/metadata-section.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { CopyButton } from '../../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { StartCommand } from '../../credentials/start-command.tsx';
import { addressCrumbs } from '../navigation.ts';
import { portOf, tcpCommand } from './agent-command.ts';
import { DeleteAddressDialog, EditAddressDialog } from './dialogs.tsx';

export function AddressPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(Address, { id }, { kinds: ['reservedAddress'] });
  const [openDialog, setOpenDialog] = useState<'change' | 'delete'>();
  const address = data?.reservedAddress;
  if (!address || error?.code === 'NOT_FOUND')
    return <LoadingPage title="TCP address" crumbs={addressCrumbs} error={error} refetch={refetch} />;
  const { addr, description, region, createdAt, metadata } = address;
  const close = () => setOpenDialog(undefined);
  return (
    <Page
      title={addr}
      crumbs={addressCrumbs}
      lead={description || undefined}
      actions={
        <>
          <Button onClick={() => setOpenDialog('change')}>Change</Button>
          <Button variant="danger" onClick={() => setOpenDialog('delete')}>
            Delete
          </Button>
        </>
      }
    >
      <ErrorNote error={error} retry={() => void refetch()} />
      <DescriptionList
        items={[
          { name: 'Address', value: <CopyButton text={addr} label="the address" /> },
          { name: 'Now', value: <Served addr={addr} /> },
          { name: 'Reserved', value: <RelativeTime at={createdAt} /> },
          region !== '' && { name: 'Region', value: region },
          { name: 'Id', value: <CopyButton text={id} label="the id" /> },
        ]}
      />
      <Section
        title="Serve it"
        lead={
          <>
            By an agent, with the authtoken of a <a href={pathTo('credentials')}>credential</a>; or by a{' '}
            <a href={pathTo('edges', 'tcp')}>TCP edge</a>, for several agents.
          </>
        }
      >
        <StartCommand acl={[]} command={tcpCommand(portOf(addr))} />
      </Section>
      <MetadataSection text={metadata} />
      <AuditHistory id={id} />
      {openDialog === 'change' && <EditAddressDialog address={address} onClose={close} />}
      {openDialog === 'delete' && <DeleteAddressDialog address={address} onClose={close} />}
    </Page>
  );
}

/** Who serves the address now. */
function Served({ addr }: { addr: string }) {
  const filter = `obj.public_url == ${JSON.stringify(`tcp://${addr}`)}`;
  const { data } = useQuery(AddressEndpoint, { filter }, { kinds: ['endpoint'] });
  const [endpoint] = data?.endpoints?.nodes ?? [];
  if (endpoint) {
    return <a href={objectPath('endpoint', endpoint.id)}>served by {endpoint.edge ? 'an edge' : 'an agent'}</a>;
  }
  return <span class="muted">{data ? 'nobody serves it' : '…'}</span>;
}
