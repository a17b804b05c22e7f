// The secrets of a vault.

import { useState } from 'preact/hooks';
import { useList } from '../../../data/hooks/use-list.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { type SecretRowFragment, VaultSecrets } from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialogs/dialog.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Section } from '../../../ui/layout/page.tsx';
import { type Column, Table } from '../../../ui/table/table.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { SecretForm } from './secret-form.tsx';

const columns: Column<SecretRowFragment>[] = [
  { key: 'name', title: 'Name', width: '2fr', cell: ({ name }) => name },
  { key: 'description', title: 'Description', width: '2fr', cell: ({ description }) => description, priority: 2 },
  {
    key: 'updated',
    isLabelled: true,
    title: 'Changed',
    width: '8rem',
    cell: ({ updatedAt }) => <RelativeTime at={updatedAt} />,
  },
];

export function Secrets({ vaultId }: { vaultId: string }) {
  const list = useList(VaultSecrets, { id: vaultId }, (result) => result.vaultSecrets, { kinds: ['secret'] });
  const [isAdding, setAdding] = useState(false);
  return (
    <Section
      title="Secrets"
      lead="Traffic policies read them by name. Nobody can read their values."
      actions={<Button onClick={() => setAdding(true)}>Add a secret</Button>}
    >
      <Table
        label="Secrets"
        columns={columns}
        list={list}
        href={({ id }) => objectPath('secret', id)}
        empty={
          <EmptyState title="No secrets yet">A secret is a text with a name: a password, a token, a key.</EmptyState>
        }
      />
      {isAdding && (
        <Dialog title="Add a secret" onClose={() => setAdding(false)}>
          <SecretForm
            vaultId={vaultId}
            onDone={() => {
              setAdding(false);
              toast('The secret is added.');
            }}
            onCancel={() => setAdding(false)}
          />
        </Dialog>
      )}
    </Section>
  );
}
