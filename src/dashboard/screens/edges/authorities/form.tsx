// Uploads the certificate of an authority, or changes what is noted of one.

import { useAction } from '../../../data/hooks/use-mutation.ts';
import { CreateAuthority, UpdateAuthority } from '../../../generated/operations.ts';
import { Form } from '../../../ui/forms/form.tsx';
import { NotedFields } from '../../../ui/forms/metadata-fields.tsx';
import { TextArea } from '../../../ui/forms/text-field.tsx';
import { useFields } from '../../../ui/forms/use-form-fields.ts';
import { atMost } from '../../../ui/forms/validators.ts';

const PEM_MAX_BYTES = 16 * 1024;

interface AuthorityFormProps {
  authority?: { id: string; description: string; metadata: string };
  onDone: (id: string) => void;
  onCancel: () => void;
}

export function AuthorityForm({ authority, onDone, onCancel }: AuthorityFormProps) {
  const { values, bind } = useFields({
    caPem: '',
    description: authority?.description ?? '',
    metadata: authority?.metadata ?? '',
  });
  const create = useAction(CreateAuthority);
  const update = useAction(UpdateAuthority);

  async function submit() {
    const { caPem, ...noted } = values;
    const id = authority
      ? (await update.act({ id: authority.id, input: noted }))?.updateCertificateAuthority?.id
      : (await create.act({ input: { ...noted, caPem } }))?.createCertificateAuthority?.id;
    if (id) onDone(id);
  }

  return (
    <Form
      action={authority ? 'Save' : 'Upload the authority'}
      onSubmit={() => void submit()}
      error={create.error ?? update.error}
      isBusy={create.isBusy || update.isBusy}
      onCancel={onCancel}
    >
      {!authority && (
        <TextArea
          {...bind('caPem')}
          label="Certificate"
          placeholder="-----BEGIN CERTIFICATE-----"
          rows={8}
          help="One certificate of an authority in PEM, at most 16 KiB. Never its private key."
          check={pem}
          isCode
        />
      )}
      <NotedFields bind={bind} />
    </Form>
  );
}

function pem(text: string): string | null {
  if (text.includes('PRIVATE KEY-----'))
    return 'This holds a private key. Keep it to yourself, and give the certificate only.';
  const count = text.split('-----BEGIN CERTIFICATE-----').length - 1;
  if (count === 0) return 'This must have a line -----BEGIN CERTIFICATE-----.';
  return count > 1 ? 'This has more than one certificate; upload each by itself.' : atMost(PEM_MAX_BYTES)(text);
}
