import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { ApiKey, type ApiKeyQuery, DeleteApiKey, UpdateApiKey } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { MetadataDialog } from '../../ui/dialogs/metadata-dialog.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { toast, toastWithUndo } from '../../ui/feedback/toast.tsx';
import { AuditHistory } from '../../ui/history/audit-history.tsx';
import { LoadingPage } from '../../ui/layout/loading-page.tsx';
import { MetadataSection } from '../../ui/layout/metadata-section.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { canManage, OwnerLink } from '../credentials/owner.tsx';
import { keyCrumbs, listPaths } from './navigation.ts';

/** The change feed has no events for uses of a key, so this is polled. */
const LAST_USED_POLL_MS = 30_000;

type Key = NonNullable<ApiKeyQuery['apiKey']>;

export function ApiKeyPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(ApiKey, { id }, { kinds: ['apiKey'], pollMs: LAST_USED_POLL_MS });
  const [openDialog, setOpenDialog] = useState<'change' | 'delete'>();
  const key = data?.apiKey;
  if (!key || error?.code === 'NOT_FOUND')
    return <LoadingPage title="API key" crumbs={keyCrumbs} error={error} refetch={refetch} />;
  const close = () => setOpenDialog(undefined);
  return (
    <Page
      title={titleOf(key)}
      crumbs={keyCrumbs}
      actions={
        canManage(key.owner) && (
          <>
            <Button onClick={() => setOpenDialog('change')}>Change</Button>
            <Button variant="danger" onClick={() => setOpenDialog('delete')}>
              Delete
            </Button>
          </>
        )
      }
    >
      {!key.owner.active && <Note variant="warn">Its holder is inactive: the key is refused until that changes.</Note>}
      <DescriptionList
        items={[
          { name: 'Held by', value: <OwnerLink owner={key.owner} /> },
          { name: 'Allowed', value: key.scopes.length === 0 ? 'All that its holder may' : key.scopes.join(', ') },
          { name: 'Expires', value: key.expiresAt === null ? 'Never' : <RelativeTime at={key.expiresAt} /> },
          { name: 'Last used', value: <RelativeTime at={key.lastUsedAt} /> },
          { name: 'Created', value: <RelativeTime at={key.createdAt} /> },
          { name: 'Id', value: <CopyButton text={id} label="the id" /> },
        ]}
      />
      <MetadataSection text={key.metadata} />
      <AuditHistory id={id} />
      {openDialog === 'change' && <EditDialog apiKey={key} onClose={close} />}
      {openDialog === 'delete' && <DeleteDialog apiKey={key} onClose={close} />}
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

function EditDialog({ apiKey, onClose }: DialogProps) {
  const { id } = apiKey;
  const update = useMutation(UpdateApiKey);
  return (
    <MetadataDialog
      title="Change what is noted of the key"
      object={apiKey}
      error={update.error}
      isBusy={update.isBusy}
      kind="apiKey"
      id={id}
      onClose={onClose}
      onSave={async (input, before) => {
        if (!(await update.mutate({ id, input }))) return false;
        toastWithUndo('The API key is changed.', UpdateApiKey, { id, input: before });
        return true;
      }}
    />
  );
}

function DeleteDialog({ apiKey, onClose }: DialogProps) {
  const { route } = useLocation();
  const remove = useMutation(DeleteApiKey);
  async function confirmed() {
    if (!(await remove.mutate({ id: apiKey.id }))) return;
    toast('The API key is deleted.');
    route(listPaths.keys, true);
  }
  return (
    <ConfirmDialog
      title="Delete this API key?"
      typeToConfirm={titleOf(apiKey)}
      confirmLabel="Delete the API key"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>
        Requests with it are refused from then on, for good. It was last used: <RelativeTime at={apiKey.lastUsedAt} />.
      </p>
    </ConfirmDialog>
  );
}
