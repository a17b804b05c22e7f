// Who was told of an alert.

import { objectPath } from '../../../data/routing/paths.ts';
import type { AlertQuery } from '../../../generated/operations.ts';
import { Section } from '../../../ui/layout/page.tsx';
import { type Column, Table } from '../../../ui/table/table.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';

type Notification = NonNullable<AlertQuery['alert']>['notifications']['nodes'][number];

const KINDS = { FIRED: 'fired', GREW: 'grew', RESOLVED: 'resolved' } as const;

export function NotificationList({ notifications }: { notifications: readonly Notification[] }) {
  return (
    <Section title="Notifications">
      <Table
        label="Notifications"
        columns={columns}
        rows={notifications}
        href={({ channel }) => objectPath('alertChannel', channel.id)}
        empty={<p class="muted">Nobody was told.</p>}
        cardLines={3}
      />
    </Section>
  );
}

const columns: Column<Notification>[] = [
  { key: 'channel', title: 'Channel', width: '2fr', cell: ({ channel }) => channel.name },
  { key: 'kind', title: 'Told', width: '6rem', cell: ({ kind }) => KINDS[kind] },
  {
    key: 'created',
    isLabelled: true,
    title: 'Written',
    width: '7rem',
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
  { key: 'outcome', title: 'Outcome', width: '3fr', cell: outcomeOf },
];

function outcomeOf({ sentAt, nextAttemptAt, error, failures }: Notification) {
  if (sentAt) {
    return (
      <>
        sent <RelativeTime at={sentAt} />
        {error && `: ${error}`}
      </>
    );
  }
  if (!nextAttemptAt) return <span title={error ?? ''}>given up: {error}</span>;
  if (failures === 0) return 'about to be sent';
  return (
    <span title={error ?? ''}>
      again <RelativeTime at={nextAttemptAt} />: {error}
    </span>
  );
}
