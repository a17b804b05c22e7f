// Creates or edits a static backend: a host and a port that the gateway connects to.

import { CreateStaticBackend, UpdateStaticBackend } from '../../../generated/operations.ts';
import { CheckField } from '../../../ui/forms/choice-fields.tsx';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { ObjectForm, type ObjectFormCallers } from '../../../ui/forms/object-form.tsx';
import { TextField } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { allOf, required } from '../../../ui/forms/validators.ts';

interface StaticFormProps extends ObjectFormCallers {
  backend?: { id: string; description: string; metadata: string; address: string; tls: { enabled: boolean } };
}

export function StaticForm({ backend, ...callers }: StaticFormProps) {
  const fields = useFormFields(
    {
      address: backend?.address ?? '',
      tls: backend?.tls.enabled ?? false,
      description: backend?.description ?? '',
      metadata: backend?.metadata ?? '',
    },
    { draft: `static backend ${backend?.id ?? 'new'}`, kind: backend && 'staticBackend' },
  );
  const { values, bind } = fields;
  const toInput = () => ({ ...values, address: values.address.trim(), tls: { enabled: values.tls } });
  return (
    <ObjectForm
      {...callers}
      noun="static backend"
      id={backend?.id}
      create={CreateStaticBackend}
      update={UpdateStaticBackend}
      toCreate={toInput}
      toUpdate={toInput}
      fields={fields}
    >
      <TextField
        {...bind('address')}
        label="Address"
        placeholder="api.example.com:443"
        help="A host and a port. The host is a public one, or one that the operator of this gateway allows (BACKEND_HOSTS)."
        validate={allOf(required('An address'), validateAddress)}
        isCode
      />
      <CheckField
        {...bind('tls')}
        label="Connect with TLS"
        help="The certificate must be valid for the host, by an authority that the gateway trusts."
      />
      <MetadataFields bind={bind} />
    </ObjectForm>
  );
}

/** The API knows more of hosts: this is what is forgotten most. */
function validateAddress(value: string): string | null {
  return /.:\d+$/.test(value.trim()) ? null : 'A port belongs to the address, as in api.example.com:443.';
}
