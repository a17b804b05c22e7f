import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useAction } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { ApiKey, type ApiKeyQuery, DeleteApiKey, UpdateApiKey } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialogs/confirm-dialog.tsx';
import { NotesDialog } from '../../ui/dialogs/metadata-dialog.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { toast, undoable } from '../../ui/feedback/toast.tsx';
import { Waiting } from '../../ui/layout/loading-page.tsx';
import { Notes } from '../../ui/layout/metadata-section.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Copy } from '../../ui/text/copy-button.tsx';
import { Facts } from '../../ui/text/description-list.tsx';
import { When } from '../../ui/text/relative-time.tsx';
import { isOurs, OwnerLink } from '../credentials/owner.tsx';
import { keyCrumbs, lists } from './navigation.ts';

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
