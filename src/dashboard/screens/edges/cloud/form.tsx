// Creates or edits a cloud endpoint: its URL, and the policy that answers there, which can be tried on a request.

import { type CloudEndpointQuery, CreateCloudEndpoint, UpdateCloudEndpoint } from '../../../generated/operations.ts';
import { CheckField } from '../../../ui/forms/choice-fields.tsx';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { ObjectForm, type ObjectFormCallers } from '../../../ui/forms/object-form.tsx';
import { TextField } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { allOf, required } from '../../../ui/forms/validators.ts';
import { ReservedNames } from '../hostports-field.tsx';
import { DryRun } from '../modules/policy/dry-run.tsx';
import { PolicyField } from '../modules/policy/fields.tsx';
import type { PolicyHost } from '../modules/policy/policy-host.ts';
import { mayHoldSecret } from '../modules/policy/typed-secrets.ts';
import { exampleUrl } from '../navigation.ts';

interface CloudEndpointFormProps extends ObjectFormCallers {
  endpoint?: Pick<
    NonNullable<CloudEndpointQuery['endpoint']>,
    'id' | 'url' | 'trafficPolicy' | 'poolingEnabled' | 'description' | 'metadata'
  >;
}

export function CloudEndpointForm({ endpoint, ...callers }: CloudEndpointFormProps) {
  const fields = useFormFields(
    {
      url: endpoint?.url ?? '',
      trafficPolicy: endpoint?.trafficPolicy ?? '',
      poolingEnabled: endpoint?.poolingEnabled ?? false,
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
  const url = withScheme(values.url.trim());
  const proto = /^tcp:/i.test(url) ? 'TCP' : /^tls:/i.test(url) ? 'TLS' : 'HTTPS';
  const name = nameOf(url);
  const host: PolicyHost = {
    proto,
    storedIn: endpoint?.id ?? null,
    exampleUrl: exampleUrl({ hostports: name === undefined ? [] : [name] }),
    examples: proto === 'HTTPS' ? 'answer' : 'sendOn',
    endpoints: endpoint && `obj.id == "${endpoint.id}"`,
  };
  const toInput = () => ({ ...values, url: values.url.trim() });

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
          label="Endpoint URL"
          placeholder="https://door.example.com"
          help="http, https or tls and a reserved domain; tcp and a reserved address; or any of them and a name that ends with .internal, for forward-internal. Without a scheme it is https, with port 80 http, and with any other tcp."
          validate={allOf(required('A URL'), validateUrl)}
          isCode
        />
        {!endpoint && (
          <ReservedNames
            verb="Use"
            isTaken={(other) => other === name}
            onPick={(picked) => bind('url').onChange(`https://${picked}`)}
          />
        )}
        <PolicyField {...bind('trafficPolicy')} label="Traffic policy" host={host} isOptional />
        <p class="help">
          {proto === 'HTTPS'
            ? 'A request that no action of the policy answers gets 404.'
            : 'A connection that no action of the policy sends on is closed.'}
        </p>
        <CheckField
          {...bind('poolingEnabled')}
          label="Pooled"
          help="Other cloud endpoints and agents that are pooled may serve the URL, too: they take turns."
        />
        <MetadataFields bind={bind} />
      </ObjectForm>
      <DryRun document={() => values.trafficPolicy} text={values.trafficPolicy} host={host} />
    </>
  );
}

/** A URL with the scheme that the gateway takes it to have. */
function withScheme(text: string): string {
  if (text === '' || text.includes('://')) return text;
  const [, port = '443'] = /:(\d+)\/?$/.exec(text) ?? [];
  const scheme = { 443: 'https', 80: 'http' }[Number(port)] ?? 'tcp';
  return `${scheme}://${text}`;
}

/** The name in a URL, without the port of its scheme; undefined of what is none. */
const nameOf = (url: string) => /^[a-z]+:\/\/([a-z0-9*.-]+)(?::\d+)?\/?$/i.exec(url)?.[1];

function validateUrl(text: string): string | null {
  const url = withScheme(text.trim());
  const isOne = /^(https?|tls|tcp):/i.test(url) && nameOf(url) !== undefined;
  return isOne ? null : 'This must be a URL of http, https, tls or tcp without a path, as https://door.example.com.';
}
