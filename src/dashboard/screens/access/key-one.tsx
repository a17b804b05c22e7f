import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useAction } from '../../data/use-action.ts';
import { useParam } from '../../data/use-param.ts';
import { useQuery } from '../../data/use-query.ts';
import { ApiKey, type ApiKeyQuery, DeleteApiKey, UpdateApiKey } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Note } from '../../ui/note.tsx';
import { Notes } from '../../ui/notes.tsx';
import { NotesDialog } from '../../ui/notes-dialog.tsx';
import { Page } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { undoable } from '../../ui/undoable.ts';
import { When } from '../../ui/when.tsx';
import { isOurs, OwnerLink } from '../credentials/owner.tsx';
import { keyCrumbs, lists } from './places.ts';
import { Waiting } from './waiting.tsx';

/** That a key is used is told to nobody. */
const USES_MS = 30_000;

type Key = NonNullable<ApiKeyQuery['apiKey']>;

export function ApiKeyPage() {
  const id = useParam('id');
  const { data, error, reload } = useQuery(ApiKey, { id }, { kinds: ['apiKey'], everyMs: USES_MS });
  const [asked, setAsked] = useState<'change' | 'delete'>();
  const key = data?.apiKey;
  if (!key || error?.code === 'NOT_FOUND')
    return <Waiting title="API key" crumbs={keyCrumbs} error={error} reload={reload} />;
  const close = () => setAsked(undefined);
  return (
    <Page
      title={titleOf(key)}
      crumbs={keyCrumbs}
      actions={
        isOurs(key.owner) && (
          <>
            <Button onClick={() => setAsked('change')}>Change</Button>
            <Button look="danger" onClick={() => setAsked('delete')}>
              Delete
            </Button>
          </>
        )
      }
    >
      {!key.owner.active && <Note look="warn">Its holder is inactive: the key is refused until that changes.</Note>}
      <Facts
        facts={[
          { name: 'Held by', value: <OwnerLink owner={key.owner} /> },
          { name: 'Last used', value: <When at={key.lastUsedAt} /> },
          { name: 'Created', value: <When at={key.createdAt} /> },
          { name: 'Id', value: <Copy text={id} what="the id" /> },
        ]}
      />
      <Notes text={key.metadata} />
      {asked === 'change' && <Change apiKey={key} onClose={close} />}
      {asked === 'delete' && <Deletion apiKey={key} onClose={close} />}
    </Page>
  );
}

function titleOf({ id, description }: Key): string {
  return description.trim() || id;
}

interface DialogProps {
  apiKey: Key;
  onClose: () => void;
}

function Change({ apiKey, onClose }: DialogProps) {
  const { id } = apiKey;
  const update = useAction(UpdateApiKey);
  return (
    <NotesDialog
      title="Change what is noted of the key"
      noted={apiKey}
      error={update.error}
      isBusy={update.isBusy}
      onClose={onClose}
      onSave={async (input, before) => {
        if (!(await update.act({ id, input }))) return;
        undoable('The API key is changed.', UpdateApiKey, { id, input: before });
        onClose();
      }}
    />
  );
}

function Deletion({ apiKey, onClose }: DialogProps) {
  const { route } = useLocation();
  const remove = useAction(DeleteApiKey);
  async function confirmed() {
    if (!(await remove.act({ id: apiKey.id }))) return;
    toast('The API key is deleted.');
    route(lists.keys, true);
  }
  return (
    <Confirm
      title="Delete this API key?"
      name={titleOf(apiKey)}
      action="Delete the API key"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>
        Requests with it are refused from then on, for good. It was last used: <When at={apiKey.lastUsedAt} />.
      </p>
    </Confirm>
  );
}
