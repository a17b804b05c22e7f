// The DNS records that a domain needs, checked repeatedly while the page is open.

import { useEffect, useState } from 'preact/hooks';
import { useQuery } from '../../data/hooks/use-query.ts';
import { CheckDomain, type DomainRowFragment } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { storeDnsResult } from './dns-checks.ts';
import { RecordList } from './record-list.tsx';

/** How often the DNS is checked while a record is missing. */
const RECHECK_MS = 30_000;

export function DnsRecords({ domain: { id, cnameTarget } }: { domain: DomainRowFragment }) {
  const isGatewaySubdomain = cnameTarget === null;
  const [isReady, setReady] = useState(false);
  const { data, error, refetch } = useQuery(
    CheckDomain,
    { id },
    {
      kinds: ['reservedDomain'],
      pollMs: isReady ? undefined : RECHECK_MS,
      skip: isGatewaySubdomain,
      keepPreviousData: true,
    },
  );
  const check = data?.checkReservedDomain;
  const [checkedAt, setCheckedAt] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (!check) return;
    setReady(check.isReady);
    setCheckedAt(new Date().toISOString());
    storeDnsResult(id, check);
  }, [check]);

  async function checkAgain() {
    setBusy(true);
    await refetch();
    setBusy(false);
  }

  if (isGatewaySubdomain) {
    return (
      <Section title="DNS records">
        <p>None are needed: it is below the gateway’s own domain.</p>
      </Section>
    );
  }
  return (
    <Section
      title="DNS records"
      lead={
        check?.isReady
          ? undefined
          : 'Add these where the DNS of the domain is managed. Until then no visitor finds the way here.'
      }
      actions={
        <Button isBusy={isBusy} onClick={() => void checkAgain()}>
          Check again
        </Button>
      }
    >
      <ErrorNote error={error} />
      {check ? (
        <>
          <RecordList records={check.records} />
          <Note variant={check.isReady ? 'good' : 'warn'}>
            <span role="status">{check.message}</span>
            <span class="muted">
              Checked <RelativeTime at={checkedAt} />
              {!check.isReady && '; again every 30 s'}
            </span>
          </Note>
        </>
      ) : (
        !error && <Skeleton />
      )}
    </Section>
  );
}
