// The certificate that visitors of a domain get.

import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { Certificate, UnsetDomainCertificate, UpdateDomain } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialogs/dialog.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { toastWithUndo } from '../../ui/feedback/toast.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { AssignCertificate } from './assign-certificate.tsx';
import { Expiry } from './certificates/expiry.tsx';
import { type DomainCertificateProps, ManagedCertificate, NoCertificate } from './managed-certificate.tsx';
import { certificateTitle } from './navigation.ts';

export function DomainCertificate(props: DomainCertificateProps) {
  const { domain, onChanged } = props;
  const { cnameTarget, certificate, certificateProvisioning } = domain;
  const [isAssigning, setAssigning] = useState(false);
  if (cnameTarget === null) {
    return (
      <Section title="Certificate">
        <p>Visitors are shown the gateway’s own: the domain is below its own name.</p>
      </Section>
    );
  }
  return (
    <Section
      title="Certificate"
      actions={
        <Button onClick={() => setAssigning(true)}>{certificate ? 'Show another' : 'Upload or choose one'}</Button>
      }
    >
      {certificateProvisioning ? (
        <ManagedCertificate {...props} />
      ) : certificate ? (
        <OtherCertificate {...props} id={certificate.id} />
      ) : (
        <NoCertificate {...props} />
      )}
      {isAssigning && (
        <Dialog title={`A certificate for ${domain.domain}`} onClose={() => setAssigning(false)}>
          <AssignCertificate
            domain={domain}
            onDone={() => {
              setAssigning(false);
              onChanged();
            }}
            onCancel={() => setAssigning(false)}
          />
        </Dialog>
      )}
    </Section>
  );
}

/** One that was uploaded, or that the gateway does not renew any more. */
function OtherCertificate({ domain, id, onChanged }: DomainCertificateProps & { id: string }) {
  const { data, error, refetch } = useQuery(Certificate, { id }, { kinds: ['tlsCertificate'] });
  const unset = useMutation(UnsetDomainCertificate);
  const certificate = data?.tlsCertificate;
  async function remove() {
    if (!(await unset.mutate({ id: domain.id }))) return;
    const before = { id: domain.id, input: { certificateId: id } };
    toastWithUndo('The domain no longer shows that certificate.', UpdateDomain, before);
    onChanged();
  }
  if (!certificate) return error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />;
  return (
    <>
      <DescriptionList
        items={[
          {
            name: 'Shown to visitors',
            value: <a href={objectPath('tlsCertificate', id)}>{certificateTitle(certificate)}</a>,
          },
          { name: 'Ends', value: <Expiry at={certificate.notAfter} /> },
          { name: 'Renewed', value: 'by you: the gateway does not' },
          { name: 'Issued by', value: certificate.issuerCommonName || <span class="muted">not said</span> },
          { name: 'For', value: certificate.subjectAlternativeNames.dnsNames.join(', ') },
        ]}
      />
      <ErrorNote error={unset.error} />
      <div class="actions">
        <Button isBusy={unset.isBusy} onClick={() => void remove()}>
          No longer show it
        </Button>
      </div>
    </>
  );
}
