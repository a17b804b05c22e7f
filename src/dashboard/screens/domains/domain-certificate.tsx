// The certificate that visitors of a domain get.

import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { Certificate, UnsetDomainCertificate, UnsetDomainPolicy, UpdateDomain } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialogs/dialog.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { toastWithUndo } from '../../ui/feedback/toast.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { AssignCertificate } from './assign-certificate.tsx';
import { Expiry } from './certificates/expiry.tsx';
import type { Domain } from './dialogs.tsx';
import { certificateTitle } from './navigation.ts';

interface DomainCertificateProps {
  domain: Domain;
  /** Called after a change, because the change feed reports it with a delay. */
  onChanged: () => void;
}

export function DomainCertificate({ domain, onChanged }: DomainCertificateProps) {
  const { cnameTarget, certificate } = domain;
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
      {certificate ? (
        <UploadedCertificate domain={domain} id={certificate.id} onChanged={onChanged} />
      ) : (
        <ManagedCertificate domain={domain} onChanged={onChanged} />
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

function UploadedCertificate({ domain, id, onChanged }: DomainCertificateProps & { id: string }) {
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

/** The policy for automatic certificates. This gateway does not obtain any yet, which the API says itself. */
function ManagedCertificate({ domain, onChanged }: DomainCertificateProps) {
  const { id, certificateManagementPolicy: policy, certificateManagementStatus: status } = domain;
  const unset = useMutation(UnsetDomainPolicy);
  const set = useMutation(UpdateDomain);
  async function change(work: Promise<unknown>) {
    if (await work) onChanged();
  }
  return (
    <>
      {policy ? (
        <DescriptionList
          items={[
            { name: 'To be obtained from', value: policy.authority },
            { name: 'Kind of key', value: policy.privateKeyType },
          ]}
        />
      ) : (
        <p>None, and none is to be obtained: visitors are shown one of the gateway’s development authority.</p>
      )}
      {status?.provisioningJob && <Note variant="warn">{status.provisioningJob.msg}</Note>}
      <ErrorNote error={unset.error ?? set.error} />
      <div class="actions">
        {policy ? (
          <Button isBusy={unset.isBusy} onClick={() => void change(unset.mutate({ id }))}>
            Don’t obtain one
          </Button>
        ) : (
          <Button
            isBusy={set.isBusy}
            onClick={() => void change(set.mutate({ id, input: { certificateManagementPolicy: {} } }))}
          >
            Have one obtained
          </Button>
        )}
      </div>
    </>
  );
}
