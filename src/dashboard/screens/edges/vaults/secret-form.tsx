// Creates or edits a secret. Its value is only written: nobody can read the stored one.

import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { CreateSecret, UpdateSecret } from '../../../generated/operations.ts';
import { Form } from '../../../ui/forms/form.tsx';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { TextArea, TextField } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { allOf, maxBytes, required } from '../../../ui/forms/validators.ts';
import { validateName } from './form.tsx';

const validateLength = maxBytes(8192);

interface SecretFormProps {
  vaultId: string;
  secret?: { id: string; name: string; description: string; metadata: string };
  onDone: () => void;
  onCancel: () => void;
}

export function SecretForm({ vaultId, secret, onDone, onCancel }: SecretFormProps) {
  const fields = useFormFields(
    {
      name: secret?.name ?? '',
      value: '',
      description: secret?.description ?? '',
      metadata: secret?.metadata ?? '',
    },
    {
      draft: `secret ${secret?.id ?? `new ${vaultId}`}`,
      storable: ({ value: _, ...others }) => others,
      kind: secret && 'secret',
    },
  );
  const { values, bind } = fields;
  const create = useMutation(CreateSecret);
  const update = useMutation(UpdateSecret);

  async function submit() {
    const input = { ...values, name: values.name.trim() };
    const isDone = secret
      ? await update.mutate({ id: secret.id, input })
      : await create.mutate({ input: { ...input, vaultId } });
    if (!isDone) return;
    fields.set({ value: '' });
    fields.saved();
    onDone();
  }

  return (
    <Form
      submitLabel={secret ? 'Save' : 'Add the secret'}
      fields={fields}
      onSubmit={() => void submit()}
      error={create.error ?? update.error}
      isBusy={create.isBusy || update.isBusy}
      onCancel={onCancel}
    >
      <TextField
        {...bind('name')}
        label="Name"
        placeholder="office"
        help={
          secret
            ? 'Policies know it by it: those that read the earlier name fail from then on.'
            : 'Policies know it by it.'
        }
        validate={validateName}
      />
      <TextArea
        {...bind('value')}
        label={secret ? 'Another value' : 'Value'}
        rows={2}
        placeholder={secret ? 'stays as it is' : undefined}
        help={
          secret
            ? 'Policies read another value from the next request on. The stored one cannot be shown.'
            : 'The secret itself. It is stored encrypted; nobody can read it afterwards.'
        }
        validate={secret ? validateLength : allOf(required('A value'), validateLength)}
        isCode
      />
      <MetadataFields bind={bind} />
    </Form>
  );
}
