import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { FleetAgent, ForgetAgent } from '../../generated/operations.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { AuditHistory } from '../../ui/history/audit-history.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { LoadingPage } from '../../ui/layout/loading-page.tsx';
import { Page, Section } from '../../ui/layout/page.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { SessionHistory } from './agent-sessions.tsx';
import { AgentState } from './agent-state.tsx';
import { ChangeAgentDialog } from './change-agent-dialog.tsx';
import { CommandDialog } from './command-dialog.tsx';
import { CredentialLink } from './credential-link.tsx';

import { LabelTags } from './label-tags.tsx';
import { agentCrumbs } from './navigation.ts';
import type { ShownAgent } from './shown-agent.ts';

const KINDS = ['agent', 'tunnelSession', 'endpoint', 'offlineEndpoint'];

type Dialog = 'change' | 'command' | 'forget';

export function AgentPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(FleetAgent, { id }, { kinds: KINDS });
  const [dialog, setDialog] = useState<Dialog>();
  const agent = data?.agent;
  if (error?.code === 'NOT_FOUND') return <AgentNotFound />;
  if (!agent) return <LoadingPage title="Agent" noun="agent" crumbs={agentCrumbs} error={error} refetch={refetch} />;
  const close = () => setDialog(undefined);
  return (
    <Page
      title={agent.name}
      badge={<AgentState agent={agent} />}
      crumbs={agentCrumbs}
      actions={
        agent.mayChange && (
          <>
            {agent.online && agent.accepts.length > 0 && (
              <Button onClick={() => setDialog('command')}>Command …</Button>
            )}
            <Button onClick={() => setDialog('change')}>Name and labels</Button>
            {!agent.online && (
              <Button variant="danger" onClick={() => setDialog('forget')}>
                Forget
              </Button>
            )}
          </>
        )
      }
    >
      <ErrorNote error={error} retry={() => void refetch()} />
      <AgentDetails agent={agent} />
      <Served agent={agent} />
      <SessionHistory agent={agent} />
      <AuditHistory id={id} />
      {dialog === 'change' && <ChangeAgentDialog agent={agent} onClose={close} />}
      {dialog === 'command' && (
        <CommandDialog
          who={agent.name}
          typeToConfirm={agent.name}
          loadIds={async () => [id]}
          accepts={agent.accepts}
          onClose={close}
        />
      )}
      {dialog === 'forget' && <ForgetDialog agent={agent} onClose={close} />}
    </Page>
  );
}

function AgentDetails({ agent }: { agent: ShownAgent }) {
  const { hostName, reportedName, assignedName, credential, refuses } = agent;
  return (
    <DescriptionList
      items={[
        { name: 'Labels', value: <LabelTags labels={agent.labels} /> },
        assignedName !== null && reportedName !== '' && { name: 'Calls itself', value: reportedName },
        hostName !== '' && { name: 'Host', value: hostName },
        { name: 'Address', value: agent.ip },
        { name: 'Version', value: agent.version },
        { name: 'System', value: [agent.os, agent.arch].filter(Boolean).join(', ') },
        { name: 'Program', value: agent.userAgent },
        {
          name: 'Credential',
          value: credential ? <CredentialLink id={credential.id} /> : <span class="muted">deleted</span>,
        },
        { name: 'First seen', value: <RelativeTime at={agent.firstSeenAt} /> },
        ...refuses.map(({ command, reason }) => ({ name: `Does not ${command.toLowerCase()}`, value: reason })),
        { name: 'Id', value: <CopyButton text={agent.id} label="the id" /> },
      ]}
    />
  );
}

/** The addresses that an agent serves, and those that it did. */
function Served({ agent: { endpoints, offlineEndpoints } }: { agent: ShownAgent }) {
  return (
    <Section title="What it serves">
      {endpoints.nodes.length === 0 && offlineEndpoints.nodes.length === 0 && (
        <p class="muted">No address of its own.</p>
      )}
      <ul class="plain-list">
        {endpoints.nodes.map(({ id, publicUrl }) => (
          <li key={id}>
            <a href={objectPath('endpoint', id)}>{publicUrl}</a>
          </li>
        ))}
        {offlineEndpoints.nodes.map(({ id, publicUrl, offlineAt, reason }) => (
          <li key={id}>
            <a href={objectPath('offlineEndpoint', id)}>{publicUrl}</a>{' '}
            <span class="muted">
              offline since <RelativeTime at={offlineAt} />: {reason}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function ForgetDialog({ agent: { id, name }, onClose }: { agent: ShownAgent; onClose: () => void }) {
  const { route } = useLocation();
  const forget = useMutation(ForgetAgent);
  async function confirmed() {
    if (!(await forget.mutate({ id }))) return;
    toast(`${name} is forgotten.`);
    route(pathTo('agents'), true);
  }
  return (
    <ConfirmDialog
      title={`Forget ${name}?`}
      confirmLabel="Forget the agent"
      error={forget.error}
      isBusy={forget.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>
        Its name, labels and history go. Its credential stays: when it connects again, it is in the list as a new agent.
      </p>
    </ConfirmDialog>
  );
}

function AgentNotFound() {
  return (
    <Page title="Agent" crumbs={agentCrumbs}>
      <EmptyState title="There is no such agent" action={<LinkButton href={pathTo('agents')}>All agents</LinkButton>}>
        It has been forgotten, or belongs to another account.
      </EmptyState>
    </Page>
  );
}
