// The pages that create, show and edit an alert rule.

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { viewer } from '../../../data/session/session.ts';
import { AlertRule, type AlertRuleQuery, DeleteAlertRule } from '../../../generated/operations.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialogs/confirm-dialog.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Note } from '../../../ui/feedback/note.tsx';
import { Skeleton } from '../../../ui/feedback/skeleton.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { AuditHistory } from '../../../ui/history/audit-history.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { conditionForms, ruleText, selectorText, severityTitles } from '../conditions.ts';
import { alertEditPath, listPaths, ruleCrumbs, silencePath } from '../navigation.ts';
import { AlertRuleForm } from './rule-form.tsx';

export function NewRule() {
  const { route } = useLocation();
  return (
    <Page title="New alert rule" crumbs={ruleCrumbs}>
      <AlertRuleForm onDone={(id) => route(objectPath('alertRule', id))} onCancel={() => route(listPaths.rules)} />
    </Page>
  );
}

export function EditRule() {
  const id = useParam('id');
  const { route } = useLocation();
  const { data, error, refetch } = useQuery(AlertRule, { id });
  const rule = data?.alertRule;
  const detailPath = objectPath('alertRule', id);
  const name = rule?.name ?? 'the alert rule';

  function done() {
    toast('The alert rule is changed.');
    route(detailPath);
  }

  return (
    <Page title={`Change “${name}”`} crumbs={[...ruleCrumbs, { title: name, href: detailPath }]}>
      <ErrorNote error={error} retry={() => void refetch()} />
      {!rule && !error && <Skeleton />}
      {rule && <AlertRuleForm key={id} rule={rule} onDone={done} onCancel={() => route(detailPath)} />}
    </Page>
  );
}

export function RulePage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(AlertRule, { id }, { kinds: ['alertRule', 'alertChannel'] });
  const [isConfirming, setConfirming] = useState(false);
  const rule = data?.alertRule;
  if (!rule) {
    return (
      <Page title="Alert rule" crumbs={ruleCrumbs}>
        {error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />}
      </Page>
    );
  }
  const actions = viewer.value?.isAdmin && (
    <>
      <LinkButton href={silencePath(id)}>Silence</LinkButton>
      <LinkButton href={alertEditPath('alertRule', id)}>Change</LinkButton>
      <Button variant="danger" onClick={() => setConfirming(true)}>
        Delete
      </Button>
    </>
  );
  return (
    <Page title={rule.name} crumbs={ruleCrumbs} actions={actions}>
      {!rule.enabled && <Note variant="warn">It is switched off: it has no alerts.</Note>}
      <RuleFacts rule={rule} />
      <AuditHistory id={id} />
      {isConfirming && <DeleteDialog id={id} name={rule.name} onClose={() => setConfirming(false)} />}
    </Page>
  );
}

function RuleFacts({ rule }: { rule: NonNullable<AlertRuleQuery['alertRule']> }) {
  const { id, condition, selector, severity, channels, resolveSeconds, updateMinutes, description, createdAt } = rule;
  return (
    <DescriptionList
      items={[
        { name: 'Condition', value: `${conditionForms[condition].title}, ${ruleText(rule)}` },
        { name: 'Of', value: selectorText(selector) },
        { name: 'Severity', value: severityTitles[severity] },
        { name: 'Tells', value: <Channels channels={channels} /> },
        { name: 'Resolved after', value: `${resolveSeconds} s` },
        { name: 'Told again at most every', value: `${updateMinutes} min` },
        description !== '' && { name: 'What to do', value: description },
        { name: 'Id', value: <code>{id}</code> },
        { name: 'Created', value: <RelativeTime at={createdAt} /> },
      ]}
    />
  );
}

function Channels({ channels }: { channels: readonly { id: string; name: string }[] }) {
  if (channels.length === 0) return <span class="muted">nobody</span>;
  return (
    <>
      {channels.map(({ id, name }, index) => (
        <>
          {index > 0 && ', '}
          <a key={id} href={objectPath('alertChannel', id)}>
            {name}
          </a>
        </>
      ))}
    </>
  );
}

function DeleteDialog({ id, name, onClose }: { id: string; name: string; onClose: () => void }) {
  const remove = useMutation(DeleteAlertRule);
  const { route } = useLocation();
  return (
    <ConfirmDialog
      title="Delete this alert rule?"
      typeToConfirm={name}
      confirmLabel="Delete the rule"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={async () => {
        if (!(await remove.mutate({ id }))) return;
        toast('The alert rule is deleted.');
        route(listPaths.rules);
      }}
      onClose={onClose}
    >
      <p>Its alert is resolved, and nobody is told. Switching the rule off keeps it.</p>
    </ConfirmDialog>
  );
}
