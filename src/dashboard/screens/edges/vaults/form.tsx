// Creates or edits a vault.

import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { CreateVault, UpdateVault } from '../../../generated/operations.ts';
import { Form } from '../../../ui/forms/form.tsx';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { TextField } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { allOf, maxBytes, required } from '../../../ui/forms/validators.ts';

/** A name, as the gateway takes it; it looks again. */
export const validateName = allOf(required('A name'), maxBytes(255));

interface VaultFormProps {
  vault?: { id: string; name: string; description: string; metadata: string };
  onDone: (id: string) => void;
  onCancel: () => void;
}

export function VaultForm({ vault, onDone, onCancel }: VaultFormProps) {
  const fields = useFormFields(
    { name: vault?.name ?? '', description: vault?.description ?? '', metadata: vault?.metadata ?? '' },
    { draft: `vault ${vault?.id ?? 'new'}`, kind: vault && 'vault' },
  );
  const { values, bind } = fields;
  const create = useMutation(CreateVault);
  const update = useMutation(UpdateVault);

  async function submit() {
    const input = { ...values, name: values.name.trim() };
    const id = vault
      ? (await update.mutate({ id: vault.id, input }))?.updateVault?.id
      : (await create.mutate({ input }))?.createVault?.id;
    if (!id) return;
    fields.saved();
    onDone(id);
  }

  return (
    <Form
      submitLabel={vault ? 'Save' : 'Create the vault'}
      fields={fields}
      onSubmit={() => void submit()}
      error={create.error ?? update.error}
      isBusy={create.isBusy || update.isBusy}
      onCancel={onCancel}
    >
      <TextField
        {...bind('name')}
        label="Name"
        placeholder="printers"
        help={
          vault
            ? 'Policies know the vault by it: those that read its secrets by the earlier name fail from then on.'
            : 'Policies know the vault by it.'
        }
        validate={validateName}
      />
      <MetadataFields bind={bind} />
    </Form>
  );
}
