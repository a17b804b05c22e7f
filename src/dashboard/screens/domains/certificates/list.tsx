import { objectPath, pathTo } from '../../../data/routing/paths.ts';
import { type CertificateRowFragment, Certificates } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { ListTable } from '../../../ui/list/list-table.tsx';
import { useListView } from '../../../ui/list/use-list-view.ts';
import type { Column } from '../../../ui/table/table.tsx';
import { certificateTitle, tabs } from '../navigation.ts';
import { GatewayCertificateSection } from '../provisioning/gateway-certificates.tsx';
import { Expiry } from './expiry.tsx';
import { renewalOf } from './renewal.tsx';
import { ShownBy } from './shown-by.tsx';

const columns: Column<CertificateRowFragment>[] = [
  { key: 'title', member: 'description', title: 'Certificate', width: '2fr', cell: certificateTitle },
  {
    key: 'names',
    title: 'For',
    width: '1.5fr',
    cell: ({ subjectAlternativeNames: { dnsNames } }) => <span title={dnsNames.join(', ')}>{dnsNames.join(', ')}</span>,
  },
  {
    key: 'until',
    member: 'not_after',
    title: 'Lasts',
    width: '13rem',
    cell: ({ notAfter }) => (
      <>
        ends <Expiry at={notAfter} />
      </>
    ),
  },
  { key: 'renewal', title: 'Renewed', width: '11rem', cell: renewalOf },
  { key: 'domains', title: 'Shown by', width: '1.5fr', priority: 2, cell: (row) => <ShownBy domains={row.domains} /> },
  { key: 'issuer', title: 'Issued by', width: '1.5fr', priority: 3, cell: ({ issuerCommonName }) => issuerCommonName },
];

const upload = (
  <LinkButton variant="primary" href={pathTo('domains', 'certificates', 'new')}>
    Upload a certificate
  </LinkButton>
);

export function CertificateList() {
  const view = useListView('tlsCertificates', Certificates, (result) => result.tlsCertificates, {
    kinds: ['tlsCertificate'],
  });
  return (
    <Page
      title="Certificates"
      lead="Shown to the visitors of domains. Those that the gateway obtained are renewed by it; those that you uploaded, by you."
      actions={upload}
    >
      <Tabs label="Domains and addresses" tabs={tabs} />
      <ListTable
        label="TLS certificates"
        cardLines={3}
        columns={columns}
        view={view}
        nouns={['certificate', 'certificates']}
        href={({ id }) => objectPath('tlsCertificate', id)}
        empty={
          <EmptyState title="No certificates yet" action={upload}>
            One that you upload can be shown to the visitors of every domain that it is for.
          </EmptyState>
        }
      />
      <GatewayCertificateSection />
    </Page>
  );
}
