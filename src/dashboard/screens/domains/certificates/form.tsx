// Uploads a certificate with its private key. Only the state of this form holds the key.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { ApiFailure } from '../../../data/client/client.ts';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { CreateCertificate } from '../../../generated/operations.ts';
import { Form } from '../../../ui/forms/form.tsx';
import { PemField } from '../../../ui/forms/pem-field.tsx';
import { TextField } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { validateDescription } from '../../../ui/forms/validators.ts';
import { Page } from '../../../ui/layout/page.tsx';
import { certificateCrumbs, listPaths } from '../navigation.ts';

interface CertificateFormProps {
  action: string;
  /** The error of the step after the upload. */
  error?: ApiFailure;
  /** Shown above the fields. */
  header?: ComponentChildren;
  onDone: (id: string) => void;
  onCancel: () => void;
}

const EMPTY = { certificatePem: '', privateKeyPem: '', description: '' };

export function CertificateForm({ action, error, header, onDone, onCancel }: CertificateFormProps) {
  const fields = useFormFields(EMPTY, {
    draft: 'new certificate',
    storable: ({ certificatePem, description }) =>
      certificatePem.includes('PRIVATE KEY') ? { description } : { certificatePem, description },
  });
  const { bind, values } = fields;
  const create = useMutation(CreateCertificate);
  // If only the next step failed, a second submission does not upload the certificate again.
  const [uploaded, setUploaded] = useState<{ id: string; of: string }>();

  async function submit() {
    const of = JSON.stringify(values);
    const id =
      uploaded?.of === of
        ? uploaded.id
        : (await create.mutate({ input: values }))?.createTlsCertificate?.tlsCertificate?.id;
    if (!id) return;
    setUploaded({ id, of });
    fields.saved();
    onDone(id);
  }

  return (
    <Form
      submitLabel={action}
      fields={fields}
      onSubmit={() => void submit()}
      error={create.error ?? error}
      isBusy={create.isBusy}
      onCancel={onCancel}
    >
      {header}
      <PemField
        {...bind('certificatePem')}
        label="Certificate"
        help="In PEM; after it those that it is issued by, in order."
        validate={(pem) =>
          pem.includes('-----BEGIN CERTIFICATE-----') ? null : 'It begins with -----BEGIN CERTIFICATE-----.'
        }
      />
      <PemField
        {...bind('privateKeyPem')}
        label="Private key"
        help="In PEM, not encrypted. It is stored encrypted; nobody can read it afterwards."
        validate={(pem) => {
          if (pem.includes('ENCRYPTED')) return 'It is encrypted: it has to be without a passphrase.';
          return /-----BEGIN (RSA |EC )?PRIVATE KEY-----/.test(pem)
            ? null
            : 'It begins with -----BEGIN PRIVATE KEY-----.';
        }}
      />
      <TextField {...bind('description')} label="Description" help="For people." validate={validateDescription} />
    </Form>
  );
}

export function NewCertificate() {
  const { route } = useLocation();
  return (
    <Page title="Upload a certificate" crumbs={certificateCrumbs}>
      <CertificateForm
        action="Upload the certificate"
        onDone={(id) => route(objectPath('tlsCertificate', id), true)}
        onCancel={() => route(listPaths.certificates)}
      />
    </Page>
  );
}
