import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { pathTo } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import {
  BotUser,
  type BotUserRowFragment,
  DeleteBotUser,
  UpdateBotUser,
  UpdateBotUserRights,
} from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { Dialog } from '../../ui/dialogs/dialog.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Tag } from '../../ui/feedback/tag.tsx';
import { toast, toastWithUndo } from '../../ui/feedback/toast.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { AuditHistory } from '../../ui/history/audit-history.tsx';
import { LoadingPage } from '../../ui/layout/loading-page.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { botCrumbs, isAdmin, listPaths } from './navigation.ts';
import { validateBotName } from './new-bot-user.tsx';

export function BotUserPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(BotUser, { id }, { kinds: ['botUser'] });
  const update = useMutation(UpdateBotUser);
  const updateRights = useMutation(UpdateBotUserRights);
  const [openDialog, setOpenDialog] = useState<'rename' | 'delete'>();
  const bot = data?.botUser;
  if (!bot || error?.code === 'NOT_FOUND')
    return <LoadingPage title="bot user" crumbs={botCrumbs} error={error} refetch={refetch} />;
  const { active, name, mayReadBodies, createdAt } = bot;
  const close = () => setOpenDialog(undefined);

  async function toggleActive() {
    if (!(await update.mutate({ id, input: { active: !active } }))) return;
    toastWithUndo(`${name} is ${active ? 'inactive' : 'active'} now.`, UpdateBotUser, { id, input: { active } });
    void refetch();
  }

  async function changeRight() {
    if (!(await updateRights.mutate({ id, input: { mayReadBodies: !mayReadBodies } }))) return;
    const text = mayReadBodies ? 'may not read captured bodies any more' : 'may read captured bodies now';
    toastWithUndo(`${name} ${text}.`, UpdateBotUserRights, { id, input: { mayReadBodies } });
    void refetch();
  }

  return (
    <Page
      title={name}
      badge={!active && <Tag variant="warn">inactive</Tag>}
      crumbs={botCrumbs}
      actions={
        isAdmin() && (
          <>
            <Button onClick={() => setOpenDialog('rename')}>Rename</Button>
            <Button isBusy={update.isBusy} onClick={() => void toggleActive()}>
              {active ? 'Make inactive' : 'Make active'}
            </Button>
            <Button isBusy={updateRights.isBusy} onClick={() => void changeRight()}>
              {mayReadBodies ? 'Hide captured bodies' : 'Allow to read captured bodies'}
            </Button>
            <Button variant="danger" onClick={() => setOpenDialog('delete')}>
              Delete
            </Button>
          </>
        )
      }
    >
      <ErrorNote error={update.error} />
      <DescriptionList
        items={[
          { name: 'Its API keys and credentials', value: active ? 'are accepted' : 'are refused' },
          { name: 'Captured bodies', value: mayReadBodies ? 'may be read, and requests replayed' : 'are hidden' },
          { name: 'Created', value: <RelativeTime at={createdAt} /> },
          { name: 'Id', value: <CopyButton text={id} label="the id" /> },
        ]}
      />
      {isAdmin() && (
        <p>
          It can hold <a href={pathTo('access', 'keys', 'new')}>API keys</a> and{' '}
          <a href={pathTo('credentials', 'new')}>credentials</a>: name it when you create one.
        </p>
      )}
      <AuditHistory id={id} />
      {openDialog === 'rename' && <RenameDialog bot={bot} onClose={close} />}
      {openDialog === 'delete' && <DeleteDialog bot={bot} onClose={close} />}
    </Page>
  );
}

interface DialogProps {
  bot: BotUserRowFragment;
  onClose: () => void;
}

function RenameDialog({ bot: { id, name }, onClose }: DialogProps) {
  const fields = useFormFields({ name }, { kind: 'botUser' });
  const { bind, values } = fields;
  const update = useMutation(UpdateBotUser);
  async function submit() {
    if (!(await update.mutate({ id, input: values }))) return;
    fields.saved();
    toastWithUndo('The bot user has another name now.', UpdateBotUser, { id, input: { name } });
    onClose();
  }
  return (
    <Dialog title="Rename the bot user" onClose={onClose}>
      <Form
        submitLabel="Rename"
        fields={fields}
        onSubmit={() => void submit()}
        error={update.error}
        isBusy={update.isBusy}
        onCancel={onClose}
      >
        <TextField {...bind('name')} label="Name" validate={validateBotName} />
      </Form>
    </Dialog>
  );
}

function DeleteDialog({ bot: { id, name }, onClose }: DialogProps) {
  const { route } = useLocation();
  const remove = useMutation(DeleteBotUser);
  async function confirmed() {
    if (!(await remove.mutate({ id }))) return;
    toast('The bot user is deleted.');
    route(listPaths.bots, true);
  }
  return (
    <ConfirmDialog
      title="Delete this bot user?"
      typeToConfirm={name.trim()}
      confirmLabel="Delete the bot user"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>It can’t be deleted while it holds API keys or credentials. To shut it out for a while, make it inactive.</p>
    </ConfirmDialog>
  );
}
