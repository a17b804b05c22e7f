import { useList } from '../../../data/hooks/use-list.ts';
import { objectPath, pathTo } from '../../../data/routing/paths.ts';
import { type CertificateRowFragment, Certificates } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { type Column, Table } from '../../../ui/table/table.tsx';
import { certificateTitle, tabs } from '../navigation.ts';
import { Expiry } from './expiry.tsx';

const columns: Column<CertificateRowFragment>[] = [
  { key: 'title', title: 'Certificate', width: '2fr', cell: certificateTitle },
  {
    key: 'names',
    title: 'For',
    width: '2fr',
    cell: ({ subjectAlternativeNames: { dnsNames } }) => <span title={dnsNames.join(', ')}>{dnsNames.join(', ')}</span>,
  },
  {
    key: 'until',
    title: 'Lasts',
    width: '13rem',
    cell: ({ notAfter }) => (
      <>
        ends <Expiry at={notAfter} />
      </>
    ),
  },
  { key: 'issuer', title: 'Issued by', width: '1.5fr', priority: 3, cell: ({ issuerCommonName }) => issuerCommonName },
];

const upload = (
  <LinkButton variant="primary" href={pathTo('domains', 'certificates', 'new')}>
    Upload a certificate
  </LinkButton>
);

export function CertificateList() {
  const list = useList(Certificates, {}, (result) => result.tlsCertificates, { kinds: ['tlsCertificate'] });
  return (
    <Page
      title="Certificates"
      lead="Uploaded with their keys, to be shown to the visitors of domains."
      actions={upload}
    >
      <Tabs label="Domains" tabs={tabs} />
      <Table
        label="TLS certificates"
        cardLines={3}
        columns={columns}
        list={list}
        href={({ id }) => objectPath('tlsCertificate', id)}
        empty={
          <EmptyState title="No certificates yet" action={upload}>
            One that you upload can be shown to the visitors of every domain that it is for.
          </EmptyState>
        }
      />
    </Page>
  );
}
