import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { loadViewer, viewer } from '../../data/session/session.ts';
import { DeactivateUser, UpdateUser, User } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Tag } from '../../ui/feedback/tag.tsx';
import { toastWithUndo } from '../../ui/feedback/toast.tsx';
import { AuditHistory } from '../../ui/history/audit-history.tsx';
import { LoadingPage } from '../../ui/layout/loading-page.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { isAdmin, userCrumbs } from './navigation.ts';
import type { Role } from './roles.ts';
import { SignInLinkSection } from './sign-in-link.tsx';
import { UserPasskeysSection } from './user-passkeys.tsx';
import { UserSecondFactorSection } from './user-second-factor.tsx';
import { UserSessionsSection } from './user-sessions.tsx';

export function UserPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(User, { id }, { kinds: ['user'] });
  const update = useMutation(UpdateUser);
  const [openDialog, setOpenDialog] = useState<'role' | 'shut-out'>();
  const user = data?.user;
  if (!user || error?.code === 'NOT_FOUND')
    return <LoadingPage title="user" crumbs={userCrumbs} error={error} refetch={refetch} />;
  const { active, email, role, mayReadBodies } = user;
  const isYou = id === viewer.value?.user.id;

  const otherRole: Role = role === 'ADMIN' ? 'MEMBER' : 'ADMIN';

  async function changeRole() {
    if (!(await update.mutate({ id, input: { role: otherRole } }))) return;
    setOpenDialog(undefined);
    // After giving up the admin role the viewer could not undo it.
    if (isYou) return loadViewer();
    toastWithUndo(`${email} is ${otherRole === 'ADMIN' ? 'an admin' : 'a member'} now.`, UpdateUser, {
      id,
      input: { role },
    });
    void refetch();
  }

  async function reactivate() {
    if (!(await update.mutate({ id, input: { active: true } }))) return;
    toastWithUndo(`${email} is let in again.`, UpdateUser, { id, input: { active: false } });
    void refetch();
  }

  async function changeRight() {
    if (!(await update.mutate({ id, input: { mayReadBodies: !mayReadBodies } }))) return;
    const text = mayReadBodies ? 'may not read captured bodies any more' : 'may read captured bodies now';
    toastWithUndo(`${email} ${text}.`, UpdateUser, { id, input: { mayReadBodies } });
    void refetch();
  }

  return (
    <Page
      title={email}
      badge={
        <>
          {isYou && <Tag>you</Tag>}
          {!active && <Tag variant="warn">shut out</Tag>}
        </>
      }
      crumbs={userCrumbs}
      actions={
        isAdmin() && (
          <>
            <Button isBusy={update.isBusy} onClick={() => (isYou ? setOpenDialog('role') : void changeRole())}>
              {role === 'ADMIN' ? 'Make a member' : 'Make an admin'}
            </Button>
            {role === 'MEMBER' && (
              <Button isBusy={update.isBusy} onClick={() => void changeRight()}>
                {mayReadBodies ? 'Hide captured bodies' : 'Allow to read captured bodies'}
              </Button>
            )}
            {active ? (
              <Button variant="danger" onClick={() => setOpenDialog('shut-out')}>
                Shut out
              </Button>
            ) : (
              <Button isBusy={update.isBusy} onClick={() => void reactivate()}>
                Let in again
              </Button>
            )}
          </>
        )
      }
    >
      <ErrorNote error={openDialog ? undefined : update.error} />
      <DescriptionList
        items={[
          { name: 'Role', value: role === 'ADMIN' ? 'admin: everything in the account' : 'member' },
          { name: 'May sign in', value: active ? 'yes' : 'no; API keys and credentials are refused, too' },
          { name: 'Captured bodies', value: mayReadBodies ? 'may be read, and requests replayed' : 'are hidden' },
          { name: 'Added', value: <RelativeTime at={user.createdAt} /> },
          { name: 'Id', value: <CopyButton text={id} label="the id" /> },
        ]}
      />
      {isAdmin() && active && <SignInLinkSection key={id} userId={id} email={email} />}
      {isAdmin() && user.hasSecondFactor && !isYou && (
        <UserSecondFactorSection userId={id} email={email} onRemoved={() => void refetch()} />
      )}
      {isAdmin() && user.hasPasskeys && !isYou && (
        <UserPasskeysSection userId={id} email={email} onRemoved={() => void refetch()} />
      )}
      {isAdmin() && <UserSessionsSection userId={id} email={email} isYou={isYou} />}
      <AuditHistory id={id} />
      {openDialog === 'role' && (
        <ConfirmDialog
          title="Make yourself a member?"
          confirmLabel="Make me a member"
          error={update.error}
          isBusy={update.isBusy}
          onConfirm={() => void changeRole()}
          onClose={() => setOpenDialog(undefined)}
        >
          <p>You can no longer change users, bot users and what others hold. Only another admin can take it back.</p>
        </ConfirmDialog>
      )}
      {openDialog === 'shut-out' && (
        <DeactivateDialog
          id={id}
          email={email}
          isYou={isYou}
          onDone={() => {
            setOpenDialog(undefined);
            void (isYou ? loadViewer() : refetch());
          }}
          onClose={() => setOpenDialog(undefined)}
        />
      )}
    </Page>
  );
}

interface DeactivateDialogProps {
  id: string;
  email: string;
  isYou: boolean;
  onDone: () => void;
  onClose: () => void;
}

/** Deactivation can be undone, except that the user's browser sessions have ended. */
function DeactivateDialog({ id, email, isYou, onDone, onClose }: DeactivateDialogProps) {
  const deactivate = useMutation(DeactivateUser);
  async function confirmed() {
    if (!(await deactivate.mutate({ id }))) return;
    if (!isYou) toastWithUndo(`${email} is shut out.`, UpdateUser, { id, input: { active: true } });
    onDone();
  }
  return (
    <ConfirmDialog
      title={`Shut ${email} out?`}
      confirmLabel="Shut the user out"
      error={deactivate.error}
      isBusy={deactivate.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      {isYou ? (
        <p>You are signed out everywhere at once. Only another admin can let you in again.</p>
      ) : (
        <p>
          The user is signed out everywhere at once, and cannot sign in. API keys and credentials that the user holds
          are refused. All but the browser sessions comes back when the user is let in again.
        </p>
      )}
    </ConfirmDialog>
  );
}
