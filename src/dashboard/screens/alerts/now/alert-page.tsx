// The page of an alert: since when, what it is about, and who was told.

import { useState } from 'preact/hooks';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { kindOf, objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { viewer } from '../../../data/session/session.ts';
import { Alert, type AlertQuery } from '../../../generated/operations.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Note } from '../../../ui/feedback/note.tsx';
import { Skeleton } from '../../../ui/feedback/skeleton.tsx';
import { AuditHistory } from '../../../ui/history/audit-history.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { type Column, Table } from '../../../ui/table/table.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { conditionForms, isShare, severityTitles } from '../conditions.ts';
import { alertCrumbs, silencePath } from '../navigation.ts';
import { AcknowledgeDialog } from './acknowledge-dialog.tsx';
import { AlertState } from './alert-state.tsx';
import { NotificationList } from './notification-list.tsx';

type ShownAlert = NonNullable<AlertQuery['alert']>;
type Affected = ShownAlert['subjects'][number];

export function AlertPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(Alert, { id }, { kinds: ['alert'] });
  const [isAcknowledging, setAcknowledging] = useState(false);
  const alert = data?.alert;
  if (!alert) {
    return (
      <Page title="Alert" crumbs={alertCrumbs}>
        {error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />}
      </Page>
    );
  }
  const { name, state, rule, subjects, subjectCount, condition } = alert;
  const isOpen = state !== 'RESOLVED';
  const actions = viewer.value?.isAdmin && isOpen && (
    <>
      <Button variant="primary" onClick={() => setAcknowledging(true)}>
        Acknowledge
      </Button>
      {rule && <LinkButton href={silencePath(rule.id)}>Silence</LinkButton>}
    </>
  );
  const rest = subjectCount - subjects.length;
  return (
    <Page title={name} badge={<AlertState {...alert} />} crumbs={alertCrumbs} actions={actions}>
      {rule?.description && <Note>{rule.description}</Note>}
      {alert.remark && <Note variant="warn">{alert.remark}</Note>}
      <AlertFacts alert={alert} />
      <Section title={`${subjectCount} ${conditionForms[condition].nouns[subjectCount === 1 ? 0 : 1]}`}>
        <Table
          label="What it is about"
          columns={columns}
          rows={subjects}
          rowKey={({ objectId }) => objectId}
          href={pathOf}
          cardLines={3}
        />
        {rest > 0 && <p class="muted">And {rest} more.</p>}
      </Section>
      <NotificationList notifications={alert.notifications.nodes} />
      <AuditHistory id={id} />
      {isAcknowledging && <AcknowledgeDialog id={id} onClose={() => setAcknowledging(false)} />}
    </Page>
  );
}

function AlertFacts({ alert }: { alert: ShownAlert }) {
  const { rule, condition, severity, since, firedAt, resolvedAt, value } = alert;
  return (
    <DescriptionList
      items={[
        { name: 'Condition', value: conditionForms[condition].title },
        isShare(condition) && { name: 'Share', value: `${Math.round(value * 100)} %` },
        { name: 'Severity', value: severityTitles[severity] },
        { name: 'Since', value: <RelativeTime at={since} /> },
        { name: 'Fired', value: <RelativeTime at={firedAt} /> },
        !!resolvedAt && { name: 'Resolved', value: <RelativeTime at={resolvedAt} /> },
        !!alert.acknowledgedAt && {
          name: 'Acknowledged',
          value: (
            <>
              <RelativeTime at={alert.acknowledgedAt} /> by {alert.acknowledgedBy}
              {alert.note && `: ${alert.note}`}
            </>
          ),
        },
        {
          name: 'Rule',
          value: rule ? <a href={objectPath('alertRule', rule.id)}>{alert.name}</a> : 'deleted meanwhile',
        },
      ]}
    />
  );
}

const columns: Column<Affected>[] = [
  { key: 'name', title: 'Name', width: '2fr', cell: ({ name }) => name },
  { key: 'since', title: 'For', width: '7rem', cell: ({ since }) => <RelativeTime at={since} as="since" /> },
  { key: 'detail', title: 'Why', width: '2fr', cell: ({ detail }) => <span title={detail}>{detail}</span> },
];

/** The page of an endpoint follows it when it comes back. */
function pathOf({ objectId }: Affected): string {
  return objectPath(kindOf(objectId) ?? '', objectId);
}
