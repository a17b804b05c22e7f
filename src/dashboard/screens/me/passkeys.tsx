// The viewer's own passkeys, which sign in without a password.

import { useState } from 'preact/hooks';
import { useQuery } from '../../data/hooks/use-query.ts';
import { supportsPasskeys } from '../../data/session/passkeys.ts';
import { Passkeys, type PasskeysQuery } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { PasskeyEnd } from './passkey-end.tsx';
import { PasskeySetup } from './passkey-setup.tsx';

type Row = NonNullable<PasskeysQuery['passkeys']>[number];

const columnsWith = (remove: (row: Row) => void): Column<Row>[] => [
  { key: 'name', title: 'Name', width: '2fr', cell: ({ name }) => name },
  {
    key: 'created',
    isLabelled: true,
    title: 'Added',
    width: '8rem',
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
  {
    key: 'used',
    isLabelled: true,
    title: 'Last used',
    width: '8rem',
    cell: ({ lastUsedAt }) => (lastUsedAt ? <RelativeTime at={lastUsedAt} /> : 'never'),
  },
  {
    key: 'remove',
    title: '',
    width: '6rem',
    cell: (row) => (
      <Button variant="plain" label={`Remove ${row.name}`} onClick={() => remove(row)}>
        Remove
      </Button>
    ),
  },
];

export function OwnPasskeys() {
  const { data, error, refetch } = useQuery(Passkeys, {}, { kinds: ['user'] });
  const [change, setChange] = useState<'add' | Row>();
  const host = data?.signInOffer?.passkeyHost ?? null;
  const canAdd = supportsPasskeys(host);
  const form = {
    needsCode: data?.viewer?.hasSecondFactor ?? false,
    onCancel: () => setChange(undefined),
    onDone: () => {
      setChange(undefined);
      void refetch();
    },
  };

  return (
    <Section
      title="Passkeys"
      lead="A phone, a computer or a security key signs you in, without your password or a code."
      actions={data && canAdd && !change && <Button onClick={() => setChange('add')}>Add a passkey…</Button>}
    >
      <ErrorNote error={error} retry={refetch} />
      {!data && !error && <Skeleton />}
      {data && !canAdd && <p class="muted">{whyNot(host)}</p>}
      {data && !change && (
        <Table label="Passkeys" columns={columnsWith(setChange)} rows={data.passkeys ?? []} empty="You have none." />
      )}
      {change === 'add' && <PasskeySetup {...form} />}
      {change && change !== 'add' && <PasskeyEnd passkey={change} {...form} />}
    </Section>
  );
}

function whyNot(host: string | null): string {
  if (host === null) return 'Passkeys can be added at the https address of the dashboard, or at http://localhost.';
  if (host !== location.hostname) return `Passkeys can be added at ${host}, and not at ${location.hostname}.`;
  return 'This browser has no passkeys.';
}
