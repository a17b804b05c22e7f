// A visitor who has signed in, with the sessions of that visitor.

import { useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useList } from '../../data/hooks/use-list.ts';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { DeleteVisitor, Visitor, type VisitorSessionRowFragment, VisitorSessions } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { AuditHistory } from '../../ui/history/audit-history.tsx';
import { LoadingPage } from '../../ui/layout/loading-page.tsx';
import { Page, Section } from '../../ui/layout/page.tsx';
import { Table } from '../../ui/table/table.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { listPaths, visitorCrumbs, visitorTitle } from './navigation.ts';
import { sessionColumns, USE_POLL_MS } from './session-columns.tsx';
import { SignOutDialog } from './sign-out-dialog.tsx';

export function VisitorPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(Visitor, { id }, { kinds: ['appUser'], pollMs: USE_POLL_MS });
  const [isForgetting, setForgetting] = useState(false);
  const visitor = data?.appUser;
  if (!visitor || error?.code === 'NOT_FOUND')
    return <LoadingPage title="Visitor" crumbs={visitorCrumbs} error={error} refetch={refetch} />;
  const { identityProvider, email, name } = visitor;
  return (
    <Page
      title={visitorTitle(visitor)}
      crumbs={visitorCrumbs}
      actions={
        <Button variant="danger" onClick={() => setForgetting(true)}>
          Delete
        </Button>
      }
    >
      <ErrorNote error={error} />
      <DescriptionList
        items={[
          name !== '' && { name: 'Name', value: name },
          { name: 'E-mail', value: email || <span class="muted">none that the provider has verified</span> },
          { name: 'Signs in at', value: <code>{identityProvider.url}</code> },
          { name: 'Id there', value: <CopyButton text={visitor.providerUserId} label="the id at the provider" /> },
          { name: 'Last active', value: <RelativeTime at={visitor.lastActive} /> },
          { name: 'Last sign-in', value: <RelativeTime at={visitor.lastLogin} /> },
          { name: 'First sign-in', value: <RelativeTime at={visitor.createdAt} /> },
          { name: 'Id', value: <CopyButton text={id} label="the id" /> },
        ]}
      />
      <SessionsSection key={id} visitorId={id} />
      <AuditHistory id={id} />
      {isForgetting && (
        <DeleteVisitorDialog id={id} title={visitorTitle(visitor)} onClose={() => setForgetting(false)} />
      )}
    </Page>
  );
}

/** The sessions of a visitor, each of which can be ended. */
function SessionsSection({ visitorId }: { visitorId: string }) {
  const filter = `obj.application_user.id == ${JSON.stringify(visitorId)}`;
  const list = useList(VisitorSessions, { filter }, (result) => result.appSessions, {
    kinds: ['appSession'],
    pollMs: USE_POLL_MS,
  });
  const [ending, setEnding] = useState<VisitorSessionRowFragment>();
  const columns = useMemo(() => sessionColumns(setEnding), []);
  return (
    <Section title="Sessions">
      <Table
        label="Sessions of this visitor"
        columns={columns}
        list={list}
        href={({ id }) => objectPath('appSession', id)}
        empty={<p class="muted">The visitor is signed in nowhere.</p>}
      />
      {ending && (
        <SignOutDialog
          session={ending}
          onDone={() => {
            setEnding(undefined);
            list.refetch();
          }}
          onClose={() => setEnding(undefined)}
        />
      )}
    </Section>
  );
}

function DeleteVisitorDialog({ id, title, onClose }: { id: string; title: string; onClose: () => void }) {
  const { route } = useLocation();
  const { mutate, error, isBusy } = useMutation(DeleteVisitor);

  async function confirmed() {
    if (!(await mutate({ id }))) return;
    toast('The visitor is deleted.');
    route(listPaths.visitors, true);
  }

  return (
    <ConfirmDialog
      title={`Delete ${title}?`}
      confirmLabel="Delete the visitor"
      error={error}
      isBusy={isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>
        All sessions of this visitor end at once, with what is open in them. Whoever signs in again is another visitor
        from then on: to keep somebody out, write a rule in the traffic policy.
      </p>
    </ConfirmDialog>
  );
}
