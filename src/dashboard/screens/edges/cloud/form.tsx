// Creates or edits a cloud endpoint: its name, and the policy that answers there, which can be tried on a request.

import { CreateCloudEndpoint, UpdateCloudEndpoint } from '../../../generated/operations.ts';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { ObjectForm, type ObjectFormCallers } from '../../../ui/forms/object-form.tsx';
import { TextField } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { allOf, required } from '../../../ui/forms/validators.ts';
import { ReservedNames, validateHostName } from '../hostports-field.tsx';
import { DryRun } from '../modules/policy/dry-run.tsx';
import { PolicyField } from '../modules/policy/fields.tsx';
import type { PolicyHost } from '../modules/policy/policy-host.ts';
import { mayHoldSecret } from '../modules/policy/typed-secrets.ts';
import { exampleUrl, hostName } from '../navigation.ts';

interface CloudEndpointFormProps extends ObjectFormCallers {
  endpoint?: { id: string; hostport: string; trafficPolicy: string; description: string; metadata: string };
}

export function CloudEndpointForm({ endpoint, ...callers }: CloudEndpointFormProps) {
  const fields = useFormFields(
    {
      url: endpoint ? hostName(endpoint.hostport) : '',
      trafficPolicy: endpoint?.trafficPolicy ?? '',
      description: endpoint?.description ?? '',
      metadata: endpoint?.metadata ?? '',
    },
    {
      draft: `cloud endpoint ${endpoint?.id ?? 'new'}`,
      kind: endpoint && 'endpoint',
      storable: ({ trafficPolicy, ...others }) =>
        mayHoldSecret(trafficPolicy) ? others : { trafficPolicy, ...others },
    },
  );
  const { values, bind } = fields;
  const name = values.url.trim();
  const isName = validateHostName(name) === null;
  const host: PolicyHost = {
    proto: 'https',
    storedIn: endpoint?.id ?? null,
    exampleUrl: exampleUrl({ hostports: isName ? [name] : [] }),
    examples: 'answer',
    endpoints: endpoint && `obj.id == "${endpoint.id}"`,
  };
  const toInput = () => ({ ...values, url: `https://${name}` });

  return (
    <>
      <ObjectForm
        {...callers}
        noun="cloud endpoint"
        id={endpoint?.id}
        create={CreateCloudEndpoint}
        update={UpdateCloudEndpoint}
        toCreate={toInput}
        toUpdate={toInput}
        fields={fields}
      >
        <TextField
          {...bind('url')}
          label="Name"
          placeholder="door.example.com"
          help="A reserved domain, or a name below a reserved wildcard. It answers at https:// only."
          validate={allOf(required('A name'), validateHostName)}
          isCode
        />
        {!endpoint && <ReservedNames verb="Use" isTaken={(other) => other === name} onPick={bind('url').onChange} />}
        <PolicyField {...bind('trafficPolicy')} label="Traffic policy" host={host} isOptional />
        <p class="help">A request that no action of the policy answers gets 404.</p>
        <MetadataFields bind={bind} />
      </ObjectForm>
      <DryRun document={() => values.trafficPolicy} text={values.trafficPolicy} host={host} />
    </>
  );
}
