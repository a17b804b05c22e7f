import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { pathTo } from '../../data/routing/paths.ts';
import { ForgetOfflineEndpoint, type OfflineEndpointFactsFragment } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { StatusDot } from '../../ui/feedback/status-dot.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { MetadataSection } from '../../ui/layout/metadata-section.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { CredentialLink } from '../agents/credential-link.tsx';
import { endpointCrumbs } from './navigation.tsx';
import { NameHold } from './offline-list.tsx';

export function OfflineEndpointPage({ endpoint }: { endpoint: OfflineEndpointFactsFragment }) {
  const { publicUrl, reason, offlineAt } = endpoint;
  const [isConfirming, setConfirming] = useState(false);
  return (
    <Page
      title={publicUrl}
      badge={<StatusDot state="off" />}
      crumbs={endpointCrumbs}
      actions={<Button onClick={() => setConfirming(true)}>Forget</Button>}
    >
      <Note variant="warn">
        <p>
          It went offline <RelativeTime at={offlineAt} />: <strong>{reason}</strong>
        </p>
      </Note>
      <OfflineDetails endpoint={endpoint} />
      <MetadataSection text={endpoint.metadata} />
      {isConfirming && <ForgetDialog endpoint={endpoint} onClose={() => setConfirming(false)} />}
    </Page>
  );
}

function OfflineDetails({ endpoint }: { endpoint: OfflineEndpointFactsFragment }) {
  const { agentVersion, ip, os, credential } = endpoint;
  return (
    <DescriptionList
      items={[
        { name: 'Address', value: <CopyButton text={endpoint.publicUrl} label="the address" /> },
        { name: 'Name and port', value: <code>{endpoint.hostport}</code> },
        { name: 'Was online from', value: <RelativeTime at={endpoint.onlineAt} /> },
        { name: 'Went offline', value: <RelativeTime at={endpoint.offlineAt} /> },
        { name: 'Its name is kept for the credential', value: <NameHold until={endpoint.heldUntil} /> },
        { name: 'Agent', value: `${agentVersion} at ${ip}, ${os}` },
        {
          name: 'Credential',
          value: credential ? <CredentialLink id={credential.id} /> : <span class="muted">deleted</span>,
        },
        { name: 'Forwarded to', value: <code>{endpoint.forwardedTo || '–'}</code> },
        { name: 'Id', value: <CopyButton text={endpoint.id} label="the id" /> },
      ]}
    />
  );
}

function ForgetDialog({
  endpoint: { id, publicUrl },
  onClose,
}: {
  endpoint: OfflineEndpointFactsFragment;
  onClose: () => void;
}) {
  const { route } = useLocation();
  const forget = useMutation(ForgetOfflineEndpoint);
  async function confirmed() {
    if (!(await forget.mutate({ id }))) return;
    toast(`Forgot ${publicUrl}.`);
    route(pathTo('endpoints', 'offline'));
  }
  return (
    <ConfirmDialog
      title="Forget this address?"
      confirmLabel="Forget it"
      error={forget.error}
      isBusy={forget.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>It goes from this list only. Whoever may serve {publicUrl} may do so as before, and it turns up again then.</p>
    </ConfirmDialog>
  );
}
