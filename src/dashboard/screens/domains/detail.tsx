import { useState } from 'preact/hooks';
import { useQuery } from '../../data/hooks/use-query.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { Domain } from '../../generated/operations.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { AuditHistory } from '../../ui/history/audit-history.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { MetadataSection } from '../../ui/layout/metadata-section.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { DeleteDomainDialog, EditDomainDialog } from './dialogs.tsx';
import { DnsRecords } from './dns-records.tsx';
import { DomainCertificate } from './domain-certificate.tsx';
import { domainCrumbs, listPaths } from './navigation.ts';

export function DomainPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(Domain, { id }, { kinds: ['reservedDomain', 'domainCertificate'] });
  const [openDialog, setOpenDialog] = useState<'change' | 'delete'>();
  const domain = data?.reservedDomain;
  const isOn = data?.gatewayInfo?.obtainsCertificates ?? true;
  if (error?.code === 'NOT_FOUND') return <DomainNotFound />;
  if (!domain) {
    return (
      <Page title="Domain" crumbs={domainCrumbs}>
        {error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />}
      </Page>
    );
  }
  const close = () => setOpenDialog(undefined);
  return (
    <Page
      title={domain.domain}
      crumbs={domainCrumbs}
      lead={domain.description || undefined}
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
          { name: 'Stands for', value: domain.domain.startsWith('*.') ? 'every name below' : 'this one name' },
          { name: 'Reserved', value: <RelativeTime at={domain.createdAt} /> },
          domain.region !== '' && { name: 'Region', value: domain.region },
          { name: 'Id', value: <CopyButton text={id} label="the id" /> },
        ]}
      />
      <DnsRecords domain={domain} />
      <DomainCertificate domain={domain} isOn={isOn} onChanged={() => void refetch()} />
      <MetadataSection text={domain.metadata} />
      <AuditHistory id={id} />
      {openDialog === 'change' && <EditDomainDialog domain={domain} onClose={close} />}
      {openDialog === 'delete' && <DeleteDomainDialog domain={domain} onClose={close} />}
    </Page>
  );
}

function DomainNotFound() {
  return (
    <Page title="Domain" crumbs={domainCrumbs}>
      <EmptyState
        title="There is no such domain"
        action={<LinkButton href={listPaths.domains}>All domains</LinkButton>}
      >
        It has been given up, or belongs to another account.
      </EmptyState>
    </Page>
  );
}
