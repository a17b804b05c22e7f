import { useEffect } from 'preact/hooks';
import { addressOf, pathOf } from '../../data/addresses.ts';
import { useList } from '../../data/use-list.ts';
import { type DomainRowFragment, Domains } from '../../generated/operations.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { CertificateCell } from './certificate-cell.tsx';
import { certificateEnds } from './certificate-ends.ts';
import { DnsCell } from './dns-cell.tsx';
import { checkSoon } from './dns-states.ts';
import { tabs } from './places.ts';

const LOOK_AGAIN_MS = 10_000;

const columns: Column<DomainRowFragment>[] = [
  { key: 'domain', title: 'Domain', width: '2fr', cell: ({ domain }) => domain },
  { key: 'dns', title: 'DNS', width: '9rem', cell: (row) => <DnsCell domain={row} /> },
  { key: 'certificate', title: 'Certificate', width: '1.5fr', cell: (row) => <CertificateCell domain={row} /> },
  { key: 'description', title: 'Description', width: '2fr', priority: 3, cell: ({ description }) => description },
];

const newDomain = (
  <LinkButton look="primary" href={pathOf('domains', 'new')}>
    Reserve a domain
  </LinkButton>
);

export function DomainList() {
  const list = useList(Domains, {}, (result) => result.reservedDomains, { kinds: ['reservedDomain'] });
  useLookedAt(list.rows, list.inView.value);
  return (
    <Page title="Domains" lead="Names that nobody but your account may use." actions={newDomain}>
      <Tabs label="Domains" tabs={tabs} />
      <Table
        label="Reserved domains"
        columns={columns}
        list={list}
        href={({ id }) => addressOf('reservedDomain', id)}
        empty={
          <Empty title="No domains yet" action={newDomain}>
            Agents get a name below the gateway’s own domain without any. Reserve one to keep it, or to serve a domain
            of your own.
          </Empty>
        }
      />
    </Page>
  );
}

/** Asks beside the list what is known of the rows in view only. */
function useLookedAt(rows: readonly DomainRowFragment[], inView: readonly string[]): void {
  const seen = rows.filter(({ id }) => inView.includes(id));
  const ids = seen.filter(({ cnameTarget }) => cnameTarget !== null).map(({ id }) => id);
  const certificates = seen.flatMap(({ certificate }) => certificate?.id ?? []);
  useEffect(() => {
    checkSoon(ids);
    const clock = setInterval(() => document.hidden || checkSoon(ids), LOOK_AGAIN_MS);
    return () => {
      clearInterval(clock);
      checkSoon([]);
    };
  }, [ids.join()]);
  useEffect(() => certificateEnds.want(certificates), [certificates.join()]);
}
