import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useAction } from '../../../data/hooks/use-mutation.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import {
  Certificate,
  type CertificateQuery,
  DeleteCertificate,
  UpdateCertificate,
} from '../../../generated/operations.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Confirm } from '../../../ui/dialogs/confirm-dialog.tsx';
import { NotesDialog } from '../../../ui/dialogs/metadata-dialog.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../../ui/feedback/skeleton.tsx';
import { toast, undoable } from '../../../ui/feedback/toast.tsx';
import { Empty } from '../../../ui/layout/empty-state.tsx';
import { Notes } from '../../../ui/layout/metadata-section.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { CodeBlock } from '../../../ui/text/code-block.tsx';
import { Copy } from '../../../ui/text/copy-button.tsx';
import { Facts } from '../../../ui/text/description-list.tsx';
import { When } from '../../../ui/text/relative-time.tsx';
import { certificateCrumbs, certificateTitle, lists } from '../navigation.ts';
import { Until } from './expiry.tsx';

type Shown = NonNullable<CertificateQuery['tlsCertificate']>;

export function CertificatePage() {
  const id = useParam('id');
  const { data, error, reload } = useQuery(Certificate, { id }, { kinds: ['tlsCertificate'] });
  const [asked, setAsked] = useState<'change' | 'delete'>();
  const certificate = data?.tlsCertificate;
  if (error?.code === 'NOT_FOUND') return <Gone />;
  if (!certificate) {
    return (
      <Page title="Certificate" crumbs={certificateCrumbs}>
        {error ? <ErrorNote error={error} retry={() => void reload()} /> : <Skeleton />}
      </Page>
    );
  }
  const close = () => setAsked(undefined);
  const { dnsNames, ips } = certificate.subjectAlternativeNames;
  return (
    <Page
      title={certificateTitle(certificate)}
      crumbs={certificateCrumbs}
      actions={
        <>
          <Button onClick={() => setAsked('change')}>Change</Button>
          <Button look="danger" onClick={() => setAsked('delete')}>
            Delete
          </Button>
        </>
      }
    >
      <Facts
        facts={[
          { name: 'For', value: [...dnsNames, ...ips].join(', ') },
          { name: 'Ends', value: <Until at={certificate.notAfter} /> },
          { name: 'Begins', value: <When at={certificate.notBefore} /> },
          { name: 'Subject', value: certificate.subjectCommonName || <span class="quiet">not said</span> },
          { name: 'Issued by', value: certificate.issuerCommonName || <span class="quiet">not said</span> },
          { name: 'Kind of key', value: certificate.privateKeyType },
          { name: 'Serial number', value: <code>{certificate.serialNumber}</code> },
          { name: 'Uploaded', value: <When at={certificate.createdAt} /> },
          { name: 'Id', value: <Copy text={id} what="the id" /> },
        ]}
      />
      <Section title="In PEM">
        <CodeBlock code={certificate.certificatePem} what="the certificate" />
      </Section>
      <Notes text={certificate.metadata} />
      {asked === 'change' && <Change certificate={certificate} onClose={close} />}
      {asked === 'delete' && <Deletion certificate={certificate} onClose={close} />}
    </Page>
  );
}

interface DialogProps {
  certificate: Shown;
  onClose: () => void;
}

function Change({ certificate, onClose }: DialogProps) {
  const { id } = certificate;
  const update = useAction(UpdateCertificate);
  return (
    <NotesDialog
      title="Change what is noted of the certificate"
      noted={certificate}
      error={update.error}
      isBusy={update.isBusy}
      onClose={onClose}
      onSave={async (input, before) => {
        if (!(await update.act({ id, input }))) return;
        undoable('The certificate is changed.', UpdateCertificate, { id, input: before });
        onClose();
      }}
    />
  );
}

function Deletion({ certificate, onClose }: DialogProps) {
  const { route } = useLocation();
  const remove = useAction(DeleteCertificate);
  async function confirmed() {
    if (!(await remove.act({ id: certificate.id }))) return;
    toast('The certificate is deleted.');
    route(lists.certificates, true);
  }
  return (
    <Confirm
      title="Delete this certificate?"
      name={certificateTitle(certificate)}
      action="Delete the certificate"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>Its private key goes with it, for good. It can’t be deleted while a domain shows it.</p>
    </Confirm>
  );
}

function Gone() {
  return (
    <Page title="Certificate" crumbs={certificateCrumbs}>
      <Empty
        title="There is no such certificate"
        action={<LinkButton href={lists.certificates}>All certificates</LinkButton>}
      >
        It has been deleted, or belongs to another account.
      </Empty>
    </Page>
  );
}
