import { useEffect, useMemo } from 'preact/hooks';
import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { CertificateService, type DomainRowFragment, Domains } from '../../generated/operations.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Tag } from '../../ui/feedback/tag.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { ListTable } from '../../ui/list/list-table.tsx';
import { useListView } from '../../ui/list/use-list-view.ts';
import type { Column } from '../../ui/table/table.tsx';
import { CertificateCell, certificateExpiry } from './certificate-cell.tsx';
import { dnsResults, queueDnsChecks } from './dns-checks.ts';
import { tabs } from './navigation.ts';
import { CertificateWarningList } from './provisioning/warnings.tsx';

const RECHECK_MS = 10_000;

const columnsOf = (isOn: boolean): Column<DomainRowFragment>[] => [
  { key: 'domain', member: 'domain', title: 'Domain', width: '2fr', cell: ({ domain }) => domain },
  { key: 'dns', title: 'DNS', width: '9rem', cell: (row) => <DnsCell domain={row} /> },
  {
    key: 'certificate',
    title: 'Certificate',
    width: '15rem',
    cell: (row) => <CertificateCell domain={row} isOn={isOn} />,
  },
  {
    key: 'description',
    member: 'description',
    title: 'Description',
    width: '2fr',
    priority: 3,
    cell: ({ description }) => description,
  },
];

const newDomain = (
  <LinkButton variant="primary" href={pathTo('domains', 'new')}>
    Reserve a domain
  </LinkButton>
);

export function DomainList() {
  const view = useListView('reservedDomains', Domains, (result) => result.reservedDomains, {
    kinds: ['reservedDomain', 'domainCertificate'],
  });
  const service = useQuery(CertificateService, {}).data?.gatewayInfo;
  const isOn = service?.obtainsCertificates ?? true;
  const columns = useMemo(() => columnsOf(isOn), [isOn]);
  useVisibleRowDetails(view.list.rows, view.list.visibleIds.value);
  return (
    <Page title="Domains" lead="Names that nobody but your account may use." actions={newDomain}>
      <Tabs label="Domains and addresses" tabs={tabs} />
      <CertificateWarningList />
      <ListTable
        label="Reserved domains"
        columns={columns}
        view={view}
        nouns={['domain', 'domains']}
        consequence="Others may reserve them then."
        href={({ id }) => objectPath('reservedDomain', id)}
        empty={
          <EmptyState title="No domains yet" action={newDomain}>
            Agents get a name below the gateway’s own domain without any. Reserve one to keep it, or to serve a domain
            of your own.
          </EmptyState>
        }
      />
    </Page>
  );
}

/** Loads the DNS results and certificates of the visible rows. */
function useVisibleRowDetails(rows: readonly DomainRowFragment[], inView: readonly string[]): void {
  const visibleRows = rows.filter(({ id }) => inView.includes(id));
  const ids = visibleRows.filter(({ cnameTarget }) => cnameTarget !== null).map(({ id }) => id);
  const certificates = visibleRows.flatMap(({ certificate }) => certificate?.id ?? []);
  useEffect(() => {
    queueDnsChecks(ids);
    const clock = setInterval(() => document.hidden || queueDnsChecks(ids), RECHECK_MS);
    return () => {
      clearInterval(clock);
      queueDnsChecks([]);
    };
  }, [ids.join()]);
  useEffect(() => certificateExpiry.load(certificates), [certificates.join()]);
}

/** The result of the DNS check in one word. */
function DnsCell({ domain: { id, cnameTarget } }: { domain: DomainRowFragment }) {
  if (cnameTarget === null) return <span class="muted">no DNS needed</span>;
  const state = dnsResults.value.get(id);
  if (!state) return <span class="muted">checking DNS …</span>;
  return (
    <span title={state.message}>
      <Tag variant={state.isReady ? 'good' : 'warn'}>{state.isReady ? 'DNS right' : 'DNS not right yet'}</Tag>
    </span>
  );
}
