import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useAction } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { pathOf } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { BotUser, type BotUserRowFragment, DeleteBotUser, UpdateBotUser } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialogs/confirm-dialog.tsx';
import { Dialog } from '../../ui/dialogs/dialog.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Tag } from '../../ui/feedback/tag.tsx';
import { toast, undoable } from '../../ui/feedback/toast.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFields } from '../../ui/forms/use-form-fields.ts';
import { Waiting } from '../../ui/layout/loading-page.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Copy } from '../../ui/text/copy-button.tsx';
import { Facts } from '../../ui/text/description-list.tsx';
import { When } from '../../ui/text/relative-time.tsx';
import { botCrumbs, isAdmin, lists } from './navigation.ts';
import { botName } from './new-bot-user.tsx';

export function BotUserPage() {
  const id = useParam('id');
  const { data, error, reload } = useQuery(BotUser, { id }, { kinds: ['botUser'] });
  const update = useAction(UpdateBotUser);
  const [asked, setAsked] = useState<'rename' | 'delete'>();
  const bot = data?.botUser;
  if (!bot || error?.code === 'NOT_FOUND')
    return <Waiting title="bot user" crumbs={botCrumbs} error={error} reload={reload} />;
  const { active, name, createdAt } = bot;
  const close = () => setAsked(undefined);

  async function turn() {
    if (!(await update.act({ id, input: { active: !active } }))) return;
    undoable(`${name} is ${active ? 'inactive' : 'active'} now.`, UpdateBotUser, { id, input: { active } });
    void reload();
  }

  return (
    <Page
      title={name}
      badge={!active && <Tag look="warn">inactive</Tag>}
      crumbs={botCrumbs}
      actions={
        isAdmin() && (
          <>
            <Button onClick={() => setAsked('rename')}>Rename</Button>
            <Button isBusy={update.isBusy} onClick={() => void turn()}>
              {active ? 'Make inactive' : 'Make active'}
            </Button>
            <Button look="danger" onClick={() => setAsked('delete')}>
              Delete
            </Button>
          </>
        )
      }
    >
      <ErrorNote error={update.error} />
      <Facts
        facts={[
          { name: 'Its API keys and credentials', value: active ? 'are accepted' : 'are refused' },
          { name: 'Created', value: <When at={createdAt} /> },
          { name: 'Id', value: <Copy text={id} what="the id" /> },
        ]}
      />
      {isAdmin() && (
        <p>
          It can hold <a href={pathOf('access', 'keys', 'new')}>API keys</a> and{' '}
          <a href={pathOf('credentials', 'new')}>credentials</a>: name it when you create one.
        </p>
      )}
      {asked === 'rename' && <Rename bot={bot} onClose={close} />}
      {asked === 'delete' && <Deletion bot={bot} onClose={close} />}
    </Page>
  );
}

interface DialogProps {
  bot: BotUserRowFragment;
  onClose: () => void;
}

function Rename({ bot: { id, name }, onClose }: DialogProps) {
  const { bind, values } = useFields({ name });
  const update = useAction(UpdateBotUser);
  async function submit() {
    if (!(await update.act({ id, input: values }))) return;
    undoable('The bot user has another name now.', UpdateBotUser, { id, input: { name } });
    onClose();
  }
  return (
    <Dialog title="Rename the bot user" onClose={onClose}>
      <Form
        action="Rename"
        onSubmit={() => void submit()}
        error={update.error}
        isBusy={update.isBusy}
        onCancel={onClose}
      >
        <TextField {...bind('name')} label="Name" check={botName} />
      </Form>
    </Dialog>
  );
}

function Deletion({ bot: { id, name }, onClose }: DialogProps) {
  const { route } = useLocation();
  const remove = useAction(DeleteBotUser);
  async function confirmed() {
    if (!(await remove.act({ id }))) return;
    toast('The bot user is deleted.');
    route(lists.bots, true);
  }
  return (
    <Confirm
      title="Delete this bot user?"
      name={name.trim()}
      action="Delete the bot user"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>It can’t be deleted while it holds API keys or credentials. To shut it out for a while, make it inactive.</p>
    </Confirm>
  );
}
