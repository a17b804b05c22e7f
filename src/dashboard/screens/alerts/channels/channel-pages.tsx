// The pages that create, show and edit an alert channel.

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { viewer } from '../../../data/session/session.ts';
import { AlertChannel, DeleteAlertChannel } from '../../../generated/operations.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialogs/confirm-dialog.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Note } from '../../../ui/feedback/note.tsx';
import { Skeleton } from '../../../ui/feedback/skeleton.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { AuditHistory } from '../../../ui/history/audit-history.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { CodeBlock } from '../../../ui/text/code-block.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { alertEditPath, channelCrumbs, listPaths } from '../navigation.ts';
import { ChannelForm } from './channel-form.tsx';
import { kindTitles, placeText } from './channel-text.ts';
import { useChannelTest } from './test-channel.tsx';

export function NewChannel() {
  const { route } = useLocation();
  const [created, setCreated] = useState<{ id: string; secret: string }>();
  const show = (id: string) => route(objectPath('alertChannel', id));
  return (
    <Page title="New alert channel" crumbs={channelCrumbs}>
      {created ? (
        <SigningSecret secret={created.secret} onKept={() => show(created.id)} />
      ) : (
        <ChannelForm
          onDone={(id, secret) => (secret ? setCreated({ id, secret }) : show(id))}
          onCancel={() => route(listPaths.channels)}
        />
      )}
    </Page>
  );
}

export function EditChannel() {
  const id = useParam('id');
  const { route } = useLocation();
  const { data, error, refetch } = useQuery(AlertChannel, { id });
  const [secret, setSecret] = useState<string>();
  const channel = data?.alertChannel;
  const detailPath = objectPath('alertChannel', id);
  const name = channel?.name ?? 'the alert channel';

  function done(_: string, made: string | null | undefined) {
    toast('The alert channel is changed.');
    if (made) setSecret(made);
    else route(detailPath);
  }

  return (
    <Page title={`Change “${name}”`} crumbs={[...channelCrumbs, { title: name, href: detailPath }]}>
      <ErrorNote error={error} retry={() => void refetch()} />
      {!channel && !error && <Skeleton />}
      {secret && <SigningSecret secret={secret} onKept={() => route(detailPath)} />}
      {channel && !secret && (
        <ChannelForm key={id} channel={channel} onDone={done} onCancel={() => route(detailPath)} />
      )}
    </Page>
  );
}

export function ChannelPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(AlertChannel, { id }, { kinds: ['alertChannel'] });
  const test = useChannelTest(id);
  const [isConfirming, setConfirming] = useState(false);
  const channel = data?.alertChannel;
  if (!channel) {
    return (
      <Page title="Alert channel" crumbs={channelCrumbs}>
        {error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />}
      </Page>
    );
  }
  const { name, kind, problem, lastError, lastErrorAt, lastSentAt, createdAt } = channel;
  const actions = viewer.value?.isAdmin && (
    <>
      {test.button}
      <LinkButton href={alertEditPath('alertChannel', id)}>Change</LinkButton>
      <Button variant="danger" onClick={() => setConfirming(true)}>
        Delete
      </Button>
    </>
  );
  return (
    <Page title={name} crumbs={channelCrumbs} actions={actions}>
      {test.outcome}
      {problem && <Note variant="warn">Nothing can be sent: {problem}.</Note>}
      {lastError && (
        <Note variant="warn">
          The last attempt failed <RelativeTime at={lastErrorAt} />. {lastError}
        </Note>
      )}
      <DescriptionList
        items={[
          { name: 'Kind', value: kindTitles[kind] },
          { name: 'Tells', value: placeText(channel) },
          { name: 'Last sent', value: <RelativeTime at={lastSentAt} /> },
          { name: 'Id', value: <code>{id}</code> },
          { name: 'Created', value: <RelativeTime at={createdAt} /> },
        ]}
      />
      <AuditHistory id={id} />
      {isConfirming && <DeleteDialog id={id} onClose={() => setConfirming(false)} />}
    </Page>
  );
}

/** Like `OneTimeSecret`, but this secret is stored encrypted and not as a digest. */
function SigningSecret({ secret, onKept }: { secret: string; onKept: () => void }) {
  return (
    <section class="secret" aria-label="New signing secret">
      <p>
        <strong>This is the only time that the signing secret is shown.</strong> The receiver needs it to tell the
        gateway’s requests from others.
      </p>
      <CodeBlock code={secret} label="the signing secret" />
      <Button variant="primary" onClick={onKept}>
        I have kept it
      </Button>
    </section>
  );
}

function DeleteDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const remove = useMutation(DeleteAlertChannel);
  const { route } = useLocation();
  return (
    <ConfirmDialog
      title="Delete this alert channel?"
      confirmLabel="Delete the channel"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={async () => {
        if (!(await remove.mutate({ id }))) return;
        toast('The alert channel is deleted.');
        route(listPaths.channels);
      }}
      onClose={onClose}
    >
      <p>What waits for it is lost. Rules that name it have to be changed first.</p>
    </ConfirmDialog>
  );
}
