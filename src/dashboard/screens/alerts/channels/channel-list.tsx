import { type AlertChannelRowFragment, AlertChannels } from '../../../generated/operations.ts';
import { Tag } from '../../../ui/feedback/tag.tsx';
import { useListView } from '../../../ui/list/use-list-view.ts';
import type { Column } from '../../../ui/table/table.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { AlertSettingsList } from '../alert-settings-list.tsx';
import { newChannel } from '../navigation.ts';
import { placeText } from './channel-text.ts';

export function ChannelList() {
  const view = useListView('alertChannels', AlertChannels, (result) => result.alertChannels, {
    kinds: ['alertChannel'],
  });
  return (
    <AlertSettingsList
      title="Alert channels"
      view={view}
      columns={columns}
      kind="alertChannel"
      nouns={['channel', 'channels']}
      newPath={newChannel}
      emptyTitle="No alert channels yet"
    >
      A channel is who is told of alerts: people by e-mail, a server of yours by a webhook, or the event subscriptions
      that have <code>alert_fired.v0</code>.
    </AlertSettingsList>
  );
}

const columns: Column<AlertChannelRowFragment>[] = [
  { key: 'name', title: 'Name', width: '2fr', cell: ({ name }) => name },
  { key: 'place', title: 'Tells', width: '3fr', cell: (row) => <span title={placeText(row)}>{placeText(row)}</span> },
  { key: 'state', title: 'State', width: '8rem', cell: stateCell },
  {
    key: 'sent',
    title: 'Last sent',
    width: '7rem',
    priority: 2,
    cell: ({ lastSentAt }) => <RelativeTime at={lastSentAt} />,
  },
  {
    key: 'error',
    title: 'Last error',
    width: '2fr',
    priority: 3,
    cell: ({ lastError }) => <span title={lastError ?? ''}>{lastError ?? <span class="muted">none</span>}</span>,
  },
];

function stateCell({ problem, lastError }: AlertChannelRowFragment) {
  if (problem) return <Tag variant="bad">sends nothing</Tag>;
  return lastError ? <Tag variant="warn">failing</Tag> : <Tag variant="good">ok</Tag>;
}
