import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { pathTo } from '../../data/routing/paths.ts';
import type { OfflineEndpointFactsFragment } from '../../generated/operations.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { StatusDot } from '../../ui/feedback/status-dot.tsx';
import { AuditHistory } from '../../ui/history/audit-history.tsx';
import { MetadataSection } from '../../ui/layout/metadata-section.tsx';
import { Page, Section } from '../../ui/layout/page.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { CredentialLink } from '../agents/credential-link.tsx';
import { CaptureState } from './capture-state.tsx';
import { ForgetDialog } from './forget-dialog.tsx';
import { endpointCrumbs } from './navigation.tsx';
import { NameHold } from './offline-list.tsx';

export function OfflineEndpointPage({ endpoint }: { endpoint: OfflineEndpointFactsFragment }) {
  const { publicUrl, reason, offlineAt, proto } = endpoint;
  const isHttp = proto === 'HTTP' || proto === 'HTTPS';
  const [isConfirming, setConfirming] = useState(false);
  const { route } = useLocation();
  return (
    <Page
      title={publicUrl}
      badge={<StatusDot state="off" />}
      crumbs={endpointCrumbs}
      actions={
        <>
          {isHttp && <LinkButton href={pathTo('traffic', endpoint.id)}>Traffic</LinkButton>}
          <Button onClick={() => setConfirming(true)}>Forget</Button>
        </>
      }
    >
      <Note variant="warn">
        <p>
          It went offline <RelativeTime at={offlineAt} />: <strong>{reason}</strong>
        </p>
      </Note>
      <OfflineDetails endpoint={endpoint} />
      {isHttp && (
        <Section title="Capture">
          <CaptureState id={endpoint.id} />
        </Section>
      )}
      <MetadataSection text={endpoint.metadata} />
      <AuditHistory id={endpoint.id} />
      {isConfirming && (
        <ForgetDialog
          endpoint={endpoint}
          onDone={() => route(pathTo('endpoints', 'offline'))}
          onClose={() => setConfirming(false)}
        />
      )}
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
