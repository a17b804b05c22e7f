import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import {
  Certificate,
  type CertificateQuery,
  DeleteCertificate,
  UpdateCertificate,
} from '../../../generated/operations.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialogs/confirm-dialog.tsx';
import { MetadataDialog } from '../../../ui/dialogs/metadata-dialog.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Note } from '../../../ui/feedback/note.tsx';
import { Skeleton } from '../../../ui/feedback/skeleton.tsx';
import { toast, toastWithUndo } from '../../../ui/feedback/toast.tsx';
import { AuditHistory } from '../../../ui/history/audit-history.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { MetadataSection } from '../../../ui/layout/metadata-section.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { CodeBlock } from '../../../ui/text/code-block.tsx';
import { CopyButton } from '../../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { certificateCrumbs, certificateTitle, listPaths } from '../navigation.ts';
import { Expiry } from './expiry.tsx';
import { renewalOf } from './renewal.tsx';
import { ShownBy } from './shown-by.tsx';

type Shown = NonNullable<CertificateQuery['tlsCertificate']>;

export function CertificatePage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(Certificate, { id }, { kinds: ['tlsCertificate', 'reservedDomain'] });
  const [openDialog, setOpenDialog] = useState<'change' | 'delete'>();
  const certificate = data?.tlsCertificate;
  if (error?.code === 'NOT_FOUND') return <CertificateNotFound />;
  if (!certificate) {
    return (
      <Page title="Certificate" crumbs={certificateCrumbs}>
        {error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />}
      </Page>
    );
  }
  const close = () => setOpenDialog(undefined);
  const { dnsNames, ips } = certificate.subjectAlternativeNames;
  return (
    <Page
      title={certificateTitle(certificate)}
      crumbs={certificateCrumbs}
      actions={
        <>
          <Button onClick={() => setOpenDialog('change')}>Change</Button>
          <Button variant="danger" onClick={() => setOpenDialog('delete')}>
            Delete
          </Button>
        </>
      }
    >
      {certificate.missingIssuer !== null && (
        <Note variant="warn">
          It was uploaded without the certificate of its issuer ({certificate.missingIssuer}), which browsers may not
          have. Upload it again with those that it is issued by after it.
        </Note>
      )}
      <DescriptionList
        items={[
          { name: 'For', value: [...dnsNames, ...ips].join(', ') },
          { name: 'Ends', value: <Expiry at={certificate.notAfter} /> },
          { name: 'Begins', value: <RelativeTime at={certificate.notBefore} /> },
          { name: 'Subject', value: certificate.subjectCommonName || <span class="muted">not said</span> },
          { name: 'Issued by', value: certificate.issuerCommonName || <span class="muted">not said</span> },
          { name: 'Kind of key', value: certificate.privateKeyType },
          { name: 'Serial number', value: <code>{certificate.serialNumber}</code> },
          certificate.issuedAt === null
            ? { name: 'Uploaded', value: <RelativeTime at={certificate.createdAt} /> }
            : { name: 'Obtained', value: <RelativeTime at={certificate.issuedAt} /> },
          { name: 'Renewed', value: renewalOf(certificate) },
          { name: 'Shown by', value: <ShownBy domains={certificate.domains} /> },
          { name: 'Id', value: <CopyButton text={id} label="the id" /> },
        ]}
      />
      <Section title="In PEM">
        <CodeBlock code={certificate.certificatePem} label="the certificate" />
      </Section>
      <MetadataSection text={certificate.metadata} />
      <AuditHistory id={id} />
      {openDialog === 'change' && <EditDialog certificate={certificate} onClose={close} />}
      {openDialog === 'delete' && <DeleteDialog certificate={certificate} onClose={close} />}
    </Page>
  );
}

interface DialogProps {
  certificate: Shown;
  onClose: () => void;
}

function EditDialog({ certificate, onClose }: DialogProps) {
  const { id } = certificate;
  const update = useMutation(UpdateCertificate);
  return (
    <MetadataDialog
      title="Change what is noted of the certificate"
      object={certificate}
      error={update.error}
      isBusy={update.isBusy}
      kind="tlsCertificate"
      id={id}
      onClose={onClose}
      onSave={async (input, before) => {
        if (!(await update.mutate({ id, input }))) return false;
        toastWithUndo('The certificate is changed.', UpdateCertificate, { id, input: before });
        return true;
      }}
    />
  );
}

function DeleteDialog({ certificate, onClose }: DialogProps) {
  const { route } = useLocation();
  const remove = useMutation(DeleteCertificate);
  async function confirmed() {
    if (!(await remove.mutate({ id: certificate.id }))) return;
    toast('The certificate is deleted.');
    route(listPaths.certificates, true);
  }
  return (
    <ConfirmDialog
      title="Delete this certificate?"
      typeToConfirm={certificateTitle(certificate)}
      confirmLabel="Delete the certificate"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>Its private key goes with it, for good. It can’t be deleted while a domain shows it.</p>
    </ConfirmDialog>
  );
}

function CertificateNotFound() {
  return (
    <Page title="Certificate" crumbs={certificateCrumbs}>
      <EmptyState
        title="There is no such certificate"
        action={<LinkButton href={listPaths.certificates}>All certificates</LinkButton>}
      >
        It has been deleted, or belongs to another account.
      </EmptyState>
    </Page>
  );
}
