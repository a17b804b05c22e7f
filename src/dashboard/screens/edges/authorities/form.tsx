// Uploads the certificate of an authority, or edits its description and metadata.

import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { CreateAuthority, UpdateAuthority } from '../../../generated/operations.ts';
import { Form } from '../../../ui/forms/form.tsx';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { PemField } from '../../../ui/forms/pem-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { maxBytes } from '../../../ui/forms/validators.ts';

const PEM_MAX_BYTES = 16 * 1024;

interface AuthorityFormProps {
  authority?: { id: string; description: string; metadata: string };
  onDone: (id: string) => void;
  onCancel: () => void;
}

export function AuthorityForm({ authority, onDone, onCancel }: AuthorityFormProps) {
  const fields = useFormFields(
    {
      caPem: '',
      description: authority?.description ?? '',
      metadata: authority?.metadata ?? '',
    },
    {
      draft: `authority ${authority?.id ?? 'new'}`,
      kind: authority && 'certificateAuthority',
      storable: ({ caPem, ...texts }) => (caPem.includes('PRIVATE KEY') ? texts : { caPem, ...texts }),
    },
  );
  const { values, bind } = fields;
  const create = useMutation(CreateAuthority);
  const update = useMutation(UpdateAuthority);

  async function submit() {
    const { caPem, ...texts } = values;
    const id = authority
      ? (await update.mutate({ id: authority.id, input: texts }))?.updateCertificateAuthority?.certificateAuthority?.id
      : (await create.mutate({ input: { ...texts, caPem } }))?.createCertificateAuthority?.certificateAuthority?.id;
    if (!id) return;
    fields.saved();
    onDone(id);
  }

  return (
    <Form
      submitLabel={authority ? 'Save' : 'Upload the authority'}
      fields={fields}
      onSubmit={() => void submit()}
      error={create.error ?? update.error}
      isBusy={create.isBusy || update.isBusy}
      onCancel={onCancel}
    >
      {!authority && (
        <PemField
          {...bind('caPem')}
          label="Certificate"
          rows={8}
          help="One certificate of an authority in PEM, at most 16 KiB. Never its private key."
          validate={validatePem}
        />
      )}
      <MetadataFields bind={bind} />
    </Form>
  );
}

function validatePem(text: string): string | null {
  if (text.includes('PRIVATE KEY-----'))
    return 'This holds a private key. Keep it to yourself, and give the certificate only.';
  const count = text.split('-----BEGIN CERTIFICATE-----').length - 1;
  if (count === 0) return 'This must have a line -----BEGIN CERTIFICATE-----.';
  return count > 1 ? 'This has more than one certificate; upload each by itself.' : maxBytes(PEM_MAX_BYTES)(text);
}
