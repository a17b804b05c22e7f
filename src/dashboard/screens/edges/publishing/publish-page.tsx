// The form that makes an edge with all that it takes to be served. What follows is on the page that it leads to.

import { useLocation, useRoute } from 'preact-iso/router';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { PublishEdge } from '../../../generated/operations.ts';
import { SelectField } from '../../../ui/forms/choice-fields.tsx';
import { Form } from '../../../ui/forms/form.tsx';
import { type KeyValuePair, pairsToRecord } from '../../../ui/forms/key-value-field.tsx';
import { TextField } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { validateDescription } from '../../../ui/forms/validators.ts';
import { Page } from '../../../ui/layout/page.tsx';
import { LabelsField } from '../labels.tsx';
import { edgesCrumb, emptyEdgePath, listPaths, startPath } from '../navigation.ts';
import { NameCheck } from './name-check.tsx';

const noLabel: readonly KeyValuePair[] = [{ name: '', value: '' }];

export function PublishPage() {
  const { query } = useRoute();
  const { route } = useLocation();
  const fields = useFormFields(
    {
      protocol: query.kind === 'tls' ? 'tls' : 'https',
      host: '',
      labels: noLabel,
      description: '',
    },
    { draft: 'new edge' },
  );
  const { values, bind } = fields;
  const publish = useMutation(PublishEdge);
  const hostField = bind('host');
  const labelsField = bind('labels');

  function changeHost(host: string) {
    // Labels are proposed until somebody has others in mind.
    if (isProposed(values.labels, values.host)) labelsField.onChange(proposedLabels(host));
    hostField.onChange(host);
  }

  async function submit() {
    const { protocol, host, labels, description } = values;
    const isTls = protocol === 'tls';
    const input = {
      ...{ protocol: isTls ? ('TLS' as const) : ('HTTPS' as const), host: host.trim() },
      ...{ labels: pairsToRecord(labels), description },
    };
    const published = (await publish.mutate({ input }))?.publishEdge?.published;
    if (!published) return;
    fields.saved();
    route(startPath(isTls ? 'tlsEdge' : 'httpsEdge', published.edge.id, published.reservedDomain.id));
  }

  return (
    <Page
      title="New edge"
      crumbs={[edgesCrumb]}
      lead={
        <>
          A public name, and the labels of the tunnels that serve it. For an edge with several names or with nothing
          behind it yet, there is <a href={emptyEdgePath}>a form of its own</a>.
        </>
      }
    >
      <Form
        submitLabel="Create the edge"
        fields={fields}
        onSubmit={() => void submit()}
        error={publish.error}
        isBusy={publish.isBusy}
        onCancel={() => route(values.protocol === 'tls' ? listPaths.tls : listPaths.https)}
      >
        <TextField
          {...hostField}
          onChange={changeHost}
          label="Name"
          placeholder="app.example.com"
          help="What visitors ask for."
          validate={(text) => (text.trim() === '' ? 'A name is needed, as app.example.com.' : null)}
          isCode
        />
        <NameCheck host={values.host} />
        <LabelsField
          {...labelsField}
          label="Labels"
          help="Every live tunnel that has all of them serves the edge, and gets its share of the visitors."
        />
        <SelectField
          {...bind('protocol')}
          label="Kind"
          options={[
            { value: 'https', title: 'HTTPS: the gateway ends TLS, and each request goes by its path' },
            { value: 'tls', title: 'TLS: each connection goes as a whole to a program that ends TLS itself' },
          ]}
        />
        <TextField
          {...bind('description')}
          label="Description"
          help="For people: what it is for."
          validate={validateDescription}
        />
        <p class="help">
          All of it is made at once, or nothing: the domain is reserved if it is not yet, and the edge gets a backend
          with these labels{values.protocol === 'https' && ' and a route that leads everything there'}.
        </p>
      </Form>
    </Page>
  );
}

/** `app=` and the first part of a name, as a label of its tunnels. */
function proposedLabels(host: string): readonly KeyValuePair[] {
  const [first = ''] = host.trim().toLowerCase().replace(/^\*\./, '').split('.');
  return first === '' ? noLabel : [{ name: 'app', value: first }];
}

function isProposed(labels: readonly KeyValuePair[], host: string): boolean {
  return JSON.stringify(labels) === JSON.stringify(proposedLabels(host));
}
