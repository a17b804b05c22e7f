import { type AlertSilenceRowFragment, AlertSilences } from '../../../generated/operations.ts';
import { useListView } from '../../../ui/list/use-list-view.ts';
import type { Column } from '../../../ui/table/table.tsx';
import { AlertSettingsList } from '../alert-settings-list.tsx';
import { newSilence } from '../navigation.ts';
import { SilenceEnd, silenceText } from './silence-text.tsx';

export function SilenceList() {
  const view = useListView('alertSilences', AlertSilences, (result) => result.alertSilences, {
    kinds: ['alertSilence'],
  });
  return (
    <AlertSettingsList
      title="Alert silences"
      view={view}
      columns={columns}
      kind="alertSilence"
      nouns={['silence', 'silences']}
      newPath={newSilence}
      emptyTitle="Nothing is silenced"
    >
      While people work on something, a silence keeps its alerts quiet.
    </AlertSettingsList>
  );
}

const columns: Column<AlertSilenceRowFragment>[] = [
  { key: 'what', title: 'Silenced', width: '2fr', cell: (row) => silenceText(row) },
  { key: 'until', title: 'Ends', width: '8rem', cell: ({ until }) => <SilenceEnd until={until} /> },
  { key: 'reason', title: 'Reason', width: '2fr', cell: ({ reason }) => reason || <span class="muted">none</span> },
  { key: 'by', title: 'By', width: '2fr', priority: 3, cell: ({ createdBy }) => createdBy },
];
