import { useState } from 'preact/hooks';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { ProvisioningKey } from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { AuditHistory } from '../../../ui/history/audit-history.tsx';
import { LoadingPage } from '../../../ui/layout/loading-page.tsx';
import { MetadataSection } from '../../../ui/layout/metadata-section.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { type Column, Table } from '../../../ui/table/table.tsx';
import { CopyButton } from '../../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { canManage, OwnerLink } from '../../credentials/owner.tsx';
import { LabelTags } from '../label-tags.tsx';
import { provisioningCrumbs } from '../navigation.ts';
import { DeleteKeyDialog, EndCredentialsDialog, RevokeKeyDialog } from './key-dialogs.tsx';
import { KeyState, usesText } from './keys-list.tsx';
import type { ShownKey } from './shown-key.ts';

type Given = ShownKey['credentials']['nodes'][number];
type Dialog = 'revoke' | 'end' | 'delete';

const columns: Column<Given>[] = [
  { key: 'description', title: 'Device', width: '2fr', cell: ({ description, id }) => description || id },
  {
    key: 'sessions',
    title: 'Now',
    width: '8rem',
    cell: ({ openSessions }) => (openSessions > 0 ? 'connected' : <span class="muted">not connected</span>),
  },
  {
    key: 'created',
    isLabelled: true,
    title: 'Since',
    width: '7rem',
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
];

export function ProvisioningKeyPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(
    ProvisioningKey,
    { id },
    { kinds: ['provisioningKey', 'credential', 'tunnelSession'] },
  );
  const [dialog, setDialog] = useState<Dialog>();
  const key = data?.provisioningKey;
  if (!key)
    return (
      <LoadingPage
        title="Provisioning key"
        noun="provisioning key"
        crumbs={provisioningCrumbs}
        error={error}
        refetch={refetch}
      />
    );
  const close = () => setDialog(undefined);
  return (
    <Page
      title={key.description || 'Provisioning key'}
      badge={<KeyState row={key} />}
      crumbs={provisioningCrumbs}
      actions={
        canManage(key.owner) && (
          <>
            {!key.revokedAt && <Button onClick={() => setDialog('revoke')}>Revoke</Button>}
            <Button variant="danger" onClick={() => setDialog('delete')}>
              Delete
            </Button>
          </>
        )
      }
    >
      <ErrorNote error={error} retry={() => void refetch()} />
      <DescriptionList
        items={[
          { name: 'Devices', value: usesText(key) },
          { name: 'Valid until', value: <RelativeTime at={key.expiresAt} fallback="for ever" /> },
          !!key.revokedAt && { name: 'Revoked', value: <RelativeTime at={key.revokedAt} /> },
          { name: 'Last used', value: <RelativeTime at={key.lastUsedAt} /> },
          { name: 'Labels', value: <LabelTags labels={key.labels} /> },
          { name: 'Held by', value: <OwnerLink owner={key.owner} /> },
          { name: 'Created', value: <RelativeTime at={key.createdAt} /> },
          { name: 'Id', value: <CopyButton text={id} label="the id" /> },
        ]}
      />
      <Section title="What each device may bind">
        {key.acl.length === 0 ? (
          <p>Everything: it has no rules.</p>
        ) : (
          <ul class="plain-list">
            {key.acl.map((rule) => (
              <li key={rule}>
                <code>{rule}</code>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section
        title="Credentials of devices"
        lead={key.credentials.totalCount > 100 ? `The newest 100 of ${key.credentials.totalCount}.` : undefined}
        actions={
          canManage(key.owner) &&
          key.credentials.totalCount > 0 && (
            <Button variant="danger" onClick={() => setDialog('end')}>
              End them all
            </Button>
          )
        }
      >
        <Table
          label="Credentials of devices"
          columns={columns}
          rows={key.credentials.nodes}
          href={(row) => objectPath('credential', row.id)}
          empty={<p class="muted">No device has used it yet.</p>}
        />
      </Section>
      <MetadataSection text={key.metadata} />
      <AuditHistory id={id} />
      {dialog === 'revoke' && <RevokeKeyDialog provisioningKey={key} onClose={close} />}
      {dialog === 'end' && <EndCredentialsDialog provisioningKey={key} onClose={close} />}
      {dialog === 'delete' && <DeleteKeyDialog provisioningKey={key} onClose={close} />}
    </Page>
  );
}
