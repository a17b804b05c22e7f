import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { pathOf } from '../../data/addresses.ts';
import { useAction } from '../../data/use-action.ts';
import { ForgetOfflineEndpoint, type OfflineEndpointFactsFragment } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Dot } from '../../ui/dot.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Note } from '../../ui/note.tsx';
import { Notes } from '../../ui/notes.tsx';
import { Page } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { When } from '../../ui/when.tsx';
import { CredentialLink } from '../agents/credential-link.tsx';
import { endpointCrumbs } from './crumbs.ts';
import { Kept } from './kept.tsx';

export function OfflineEndpoint({ endpoint }: { endpoint: OfflineEndpointFactsFragment }) {
  const { publicUrl, reason, offlineAt } = endpoint;
  const [isAsking, setAsking] = useState(false);
  return (
    <Page
      title={publicUrl}
      badge={<Dot state="off" />}
      crumbs={endpointCrumbs}
      actions={<Button onClick={() => setAsking(true)}>Forget</Button>}
    >
      <Note look="warn">
        <p>
          It went offline <When at={offlineAt} />: <strong>{reason}</strong>
        </p>
      </Note>
      <OfflineFacts endpoint={endpoint} />
      <Notes text={endpoint.metadata} />
      {isAsking && <AskForget endpoint={endpoint} onClose={() => setAsking(false)} />}
    </Page>
  );
}

function OfflineFacts({ endpoint }: { endpoint: OfflineEndpointFactsFragment }) {
  const { agentVersion, ip, os, credential } = endpoint;
  return (
    <Facts
      facts={[
        { name: 'Address', value: <Copy text={endpoint.publicUrl} what="the address" /> },
        { name: 'Name and port', value: <code>{endpoint.hostport}</code> },
        { name: 'Was online from', value: <When at={endpoint.onlineAt} /> },
        { name: 'Went offline', value: <When at={endpoint.offlineAt} /> },
        { name: 'Its name is kept for the credential', value: <Kept until={endpoint.heldUntil} /> },
        { name: 'Agent', value: `${agentVersion} at ${ip}, ${os}` },
        {
          name: 'Credential',
          value: credential ? <CredentialLink id={credential.id} /> : <span class="quiet">deleted</span>,
        },
        { name: 'Forwarded to', value: <code>{endpoint.forwardedTo || '–'}</code> },
        { name: 'Id', value: <Copy text={endpoint.id} what="the id" /> },
      ]}
    />
  );
}

function AskForget({
  endpoint: { id, publicUrl },
  onClose,
}: {
  endpoint: OfflineEndpointFactsFragment;
  onClose: () => void;
}) {
  const { route } = useLocation();
  const forget = useAction(ForgetOfflineEndpoint);
  async function confirmed() {
    if (!(await forget.act({ id }))) return;
    toast(`Forgot ${publicUrl}.`);
    route(pathOf('endpoints', 'offline'));
  }
  return (
    <Confirm
      title="Forget this address?"
      action="Forget it"
      error={forget.error}
      isBusy={forget.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>It goes from this list only. Whoever may serve {publicUrl} may do so as before, and it turns up again then.</p>
    </Confirm>
  );
}
