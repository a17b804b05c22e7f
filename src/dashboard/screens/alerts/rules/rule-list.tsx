import { type AlertRuleRowFragment, AlertRules } from '../../../generated/operations.ts';
import { Tag } from '../../../ui/feedback/tag.tsx';
import { useListView } from '../../../ui/list/use-list-view.ts';
import type { Column } from '../../../ui/table/table.tsx';
import { AlertSettingsList } from '../alert-settings-list.tsx';
import { conditionForms, ruleText, selectorText, severityTitles } from '../conditions.ts';
import { newRule } from '../navigation.ts';

export function RuleList() {
  const view = useListView('alertRules', AlertRules, (result) => result.alertRules, {
    kinds: ['alertRule', 'alertChannel'],
  });
  return (
    <AlertSettingsList
      title="Alert rules"
      view={view}
      columns={columns}
      kind="alertRule"
      nouns={['rule', 'rules']}
      newPath={newRule}
      consequence="Their open alerts are resolved, and nobody is told."
      emptyTitle="No alert rules yet"
    >
      A rule says what is wrong, for how long it has to be, and which channels are told.
    </AlertSettingsList>
  );
}

const columns: Column<AlertRuleRowFragment>[] = [
  { key: 'name', title: 'Name', width: '2fr', cell: ({ name }) => name },
  { key: 'condition', title: 'Condition', width: '3fr', cell: conditionCell },
  { key: 'state', title: 'Severity', width: '7rem', cell: severityCell },
  { key: 'selector', title: 'Of', width: '2fr', priority: 2, cell: ({ selector }) => selectorText(selector) },
  { key: 'channels', title: 'Tells', width: '2fr', priority: 2, cell: channelsCell },
];

function conditionCell(rule: AlertRuleRowFragment) {
  const text = `${conditionForms[rule.condition].title}, ${ruleText(rule)}`;
  return <span title={text}>{text}</span>;
}

function severityCell({ enabled, severity }: AlertRuleRowFragment) {
  if (!enabled) return <Tag>switched off</Tag>;
  return <Tag variant={severity === 'CRITICAL' ? 'bad' : 'warn'}>{severityTitles[severity]}</Tag>;
}

function channelsCell({ channels }: AlertRuleRowFragment) {
  if (channels.length === 0) return <span class="muted">nobody</span>;
  return channels.map(({ name }) => name).join(', ');
}
