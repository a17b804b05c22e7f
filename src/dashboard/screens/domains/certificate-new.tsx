import { useLocation } from 'preact-iso/router';
import { addressOf } from '../../data/addresses.ts';
import { Page } from '../../ui/page.tsx';
import { CertificateForm } from './certificate-form.tsx';
import { certificateCrumbs, lists } from './places.ts';

export function NewCertificate() {
  const { route } = useLocation();
  return (
    <Page title="Upload a certificate" crumbs={certificateCrumbs}>
      <CertificateForm
        action="Upload the certificate"
        onDone={(id) => route(addressOf('tlsCertificate', id), true)}
        onCancel={() => route(lists.certificates)}
      />
    </Page>
  );
}
