// The DNS records that a domain needs, checked repeatedly while the page is open.

import { useEffect, useState } from 'preact/hooks';
import { useQuery } from '../../data/hooks/use-query.ts';
import { CheckDomain, type CheckDomainQuery, type DomainRowFragment } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Tag } from '../../ui/feedback/tag.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { storeDnsResult } from './dns-checks.ts';

/** How often the DNS is checked while a record is missing. */
const RECHECK_MS = 30_000;

type Check = NonNullable<CheckDomainQuery['checkReservedDomain']>;
type DnsRecord = Check['records'][number];

const STATES = {
  OK: { variant: 'good', word: 'right' },
  MISSING: { variant: 'warn', word: 'missing' },
  WRONG: { variant: 'bad', word: 'wrong' },
  UNKNOWN: { variant: 'plain', word: 'not known' },
} as const;

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
          <ul class="records">
            {check.records.map((record) => (
              <RecordItem key={record.name} record={record} />
            ))}
          </ul>
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

function RecordItem({ record: { type, name, expected, state, found, message } }: { record: DnsRecord }) {
  const { variant, word } = STATES[state];
  return (
    <li class="record">
      <div class="record-header">
        <Tag variant={variant}>{word}</Tag>
        <strong>{type}</strong>
      </div>
      <dl>
        <dt>Name</dt>
        <dd>
          <CopyButton text={name} label="the record’s name" />
        </dd>
        <dt>Value</dt>
        <dd>
          <CopyButton text={expected} label="the record’s value" />
        </dd>
        {state === 'WRONG' && (
          <>
            <dt>Found</dt>
            <dd>
              <code>{found.join(', ') || 'nothing'}</code>
            </dd>
          </>
        )}
      </dl>
      {state !== 'OK' && <p class="muted">{message}</p>}
    </li>
  );
}
