// Creates or edits a vault.

import { CreateVault, UpdateVault } from '../../../generated/operations.ts';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { ObjectForm, type ObjectFormCallers } from '../../../ui/forms/object-form.tsx';
import { TextField } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { allOf, maxBytes, required } from '../../../ui/forms/validators.ts';

/** A name, as the gateway takes it; it looks again. */
export const validateName = allOf(required('A name'), maxBytes(255));

interface VaultFormProps extends ObjectFormCallers {
  vault?: { id: string; name: string; description: string; metadata: string };
}

export function VaultForm({ vault, ...callers }: VaultFormProps) {
  const fields = useFormFields(
    { name: vault?.name ?? '', description: vault?.description ?? '', metadata: vault?.metadata ?? '' },
    { draft: `vault ${vault?.id ?? 'new'}`, kind: vault && 'vault' },
  );
  const { values, bind } = fields;
  const toInput = () => ({ ...values, name: values.name.trim() });
  return (
    <ObjectForm
      {...callers}
      noun="vault"
      id={vault?.id}
      create={CreateVault}
      update={UpdateVault}
      toCreate={toInput}
      toUpdate={toInput}
      fields={fields}
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
    </ObjectForm>
  );
}
