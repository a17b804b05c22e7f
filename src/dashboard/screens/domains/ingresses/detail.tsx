// The page of an agent ingress.

import { useState } from 'preact/hooks';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { Ingress } from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { AuditHistory } from '../../../ui/history/audit-history.tsx';
import { LoadingPage } from '../../../ui/layout/loading-page.tsx';
import { MetadataSection } from '../../../ui/layout/metadata-section.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { CopyButton } from '../../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { ingressCrumbs } from '../navigation.ts';
import { DeleteIngressDialog, EditIngressDialog } from './dialogs.tsx';

export function IngressPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(Ingress, { id }, { kinds: ['agentIngress', 'reservedDomain'] });
  const [openDialog, setOpenDialog] = useState<'change' | 'delete'>();
  const ingress = data?.agentIngress;
  if (!ingress || error?.code === 'NOT_FOUND')
    return <LoadingPage title="Agent ingress" crumbs={ingressCrumbs} error={error} refetch={refetch} />;
  const { domain, description, createdAt, metadata, reservedDomain, certificateManagementStatus } = ingress;
  const job = certificateManagementStatus?.provisioningJob;
  const close = () => setOpenDialog(undefined);
  return (
    <Page
      title={domain}
      crumbs={ingressCrumbs}
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
          { name: 'Domain', value: <CopyButton text={domain} label="the domain" /> },
          reservedDomain && {
            name: 'Certificate',
            value: <a href={objectPath('reservedDomain', reservedDomain.id)}>{job ? job.msg : 'that of the domain'}</a>,
          },
          { name: 'Created', value: <RelativeTime at={createdAt} /> },
          { name: 'Id', value: <CopyButton text={id} label="the id" /> },
        ]}
      />
      <MetadataSection text={metadata} />
      <AuditHistory id={id} />
      {openDialog === 'change' && <EditIngressDialog ingress={ingress} onClose={close} />}
      {openDialog === 'delete' && <DeleteIngressDialog ingress={ingress} onClose={close} />}
    </Page>
  );
}
