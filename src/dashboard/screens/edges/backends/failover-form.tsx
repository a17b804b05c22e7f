// Creates or edits a failover backend: other backends, in the order in which they are tried.

import { CreateFailoverBackend, UpdateFailoverBackend } from '../../../generated/operations.ts';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { ObjectForm, type ObjectFormCallers } from '../../../ui/forms/object-form.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { ReferenceListField } from '../references/reference-field.tsx';
import { backendReference } from '../references/references.ts';
import { MemberForm } from './member-form.tsx';
import { useMemberTunnels } from './member-tunnels.tsx';
import { MEMBERS_MAX } from './members-max.ts';

interface FailoverFormProps extends ObjectFormCallers {
  backend?: { id: string; description: string; metadata: string; order: readonly string[] };
}

const nothing: readonly string[] = [];

export function FailoverForm({ backend, ...callers }: FailoverFormProps) {
  const fields = useFormFields(
    {
      backends: backend?.order ?? nothing,
      description: backend?.description ?? '',
      metadata: backend?.metadata ?? '',
    },
    { draft: `failover backend ${backend?.id ?? 'new'}`, kind: backend && 'failoverBackend' },
  );
  const { values, bind } = fields;
  const tunnelsOf = useMemberTunnels(values.backends);
  const toInput = () => ({ ...values, backends: [...values.backends] });
  return (
    <ObjectForm
      {...callers}
      noun="failover backend"
      id={backend?.id}
      create={CreateFailoverBackend}
      update={UpdateFailoverBackend}
      toCreate={toInput}
      toUpdate={toInput}
      fields={fields}
    >
      <ReferenceListField
        {...bind('backends')}
        label="Backends, in the order in which they are tried"
        type={backendReference}
        form={MemberForm}
        maxItems={MEMBERS_MAX}
        except={backend?.id}
        isOrdered
        besides={tunnelsOf}
        help="A visit goes to the first that is online: a tunnel group with a live tunnel, or an HTTP response, which always is."
      />
      <MetadataFields bind={bind} />
    </ObjectForm>
  );
}
