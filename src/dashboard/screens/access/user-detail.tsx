import { useState } from 'preact/hooks';
import { useAction } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { meetViewer, viewer } from '../../data/session/session.ts';
import { DeactivateUser, UpdateUser, User } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialogs/confirm-dialog.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Tag } from '../../ui/feedback/tag.tsx';
import { toast, undoable } from '../../ui/feedback/toast.tsx';
import { Waiting } from '../../ui/layout/loading-page.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Copy } from '../../ui/text/copy-button.tsx';
import { Facts } from '../../ui/text/description-list.tsx';
import { When } from '../../ui/text/relative-time.tsx';
import { isAdmin, userCrumbs } from './navigation.ts';
import type { Role } from './roles.ts';
import { SignInLinkSection } from './sign-in-link.tsx';
import { UserBrowsers } from './user-sessions.tsx';

export function UserPage() {
  const id = useParam('id');
  const { data, error, reload } = useQuery(User, { id }, { kinds: ['user'] });
  const update = useAction(UpdateUser);
  const [asked, setAsked] = useState<'role' | 'shut-out'>();
  const user = data?.user;
  if (!user || error?.code === 'NOT_FOUND')
    return <Waiting title="user" crumbs={userCrumbs} error={error} reload={reload} />;
  const { active, email, role } = user;
  const isYou = id === viewer.value?.user.id;

  const other: Role = role === 'admin' ? 'member' : 'admin';

  async function changeRole() {
    if (!(await update.act({ id, input: { role: other } }))) return;
    setAsked(undefined);
    // Who is no admin any more can't take it back.
    if (isYou) return meetViewer();
    undoable(`${email} is ${other === 'admin' ? 'an admin' : 'a member'} now.`, UpdateUser, { id, input: { role } });
    void reload();
  }

  async function letIn() {
    if (!(await update.act({ id, input: { active: true } }))) return;
    toast(`${email} is let in again.`);
    void reload();
  }

  return (
    <Page
      title={email}
      badge={
        <>
          {isYou && <Tag>you</Tag>}
          {!active && <Tag look="warn">shut out</Tag>}
        </>
      }
      crumbs={userCrumbs}
      actions={
        isAdmin() && (
          <>
            <Button isBusy={update.isBusy} onClick={() => (isYou ? setAsked('role') : void changeRole())}>
              {role === 'admin' ? 'Make a member' : 'Make an admin'}
            </Button>
            {active ? (
              <Button look="danger" onClick={() => setAsked('shut-out')}>
                Shut out
              </Button>
            ) : (
              <Button isBusy={update.isBusy} onClick={() => void letIn()}>
                Let in again
              </Button>
            )}
          </>
        )
      }
    >
      <ErrorNote error={asked ? undefined : update.error} />
      <Facts
        facts={[
          { name: 'Role', value: role === 'admin' ? 'admin: everything in the account' : 'member' },
          { name: 'May sign in', value: active ? 'yes' : 'no; API keys and credentials are refused, too' },
          { name: 'Added', value: <When at={user.createdAt} /> },
          { name: 'Id', value: <Copy text={id} what="the id" /> },
        ]}
      />
      {isAdmin() && active && <SignInLinkSection key={id} userId={id} email={email} />}
      {isAdmin() && <UserBrowsers userId={id} email={email} isYou={isYou} />}
      {asked === 'role' && (
        <Confirm
          title="Make yourself a member?"
          action="Make me a member"
          error={update.error}
          isBusy={update.isBusy}
          onConfirm={() => void changeRole()}
          onClose={() => setAsked(undefined)}
        >
          <p>You can no longer change users, bot users and what others hold. Only another admin can take it back.</p>
        </Confirm>
      )}
      {asked === 'shut-out' && (
        <ShutOut
          id={id}
          email={email}
          isYou={isYou}
          onDone={() => {
            setAsked(undefined);
            void (isYou ? meetViewer() : reload());
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </Page>
  );
}

interface ShutOutProps {
  id: string;
  email: string;
  isYou: boolean;
  onDone: () => void;
  onClose: () => void;
}

/** It can be taken back, but for the browsers. */
function ShutOut({ id, email, isYou, onDone, onClose }: ShutOutProps) {
  const deactivate = useAction(DeactivateUser);
  async function confirmed() {
    if (!(await deactivate.act({ id }))) return;
    if (!isYou) undoable(`${email} is shut out.`, UpdateUser, { id, input: { active: true } });
    onDone();
  }
  return (
    <Confirm
      title={`Shut ${email} out?`}
      action="Shut the user out"
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
    </Confirm>
  );
}
