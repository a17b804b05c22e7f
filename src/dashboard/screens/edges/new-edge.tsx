// The form for an edge alone: with any number of names, and nothing behind it yet.

import { useLocation, useRoute } from 'preact-iso/router';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { CreateHttpsEdge, CreateTlsEdge } from '../../generated/operations.ts';
import { SelectField } from '../../ui/forms/choice-fields.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { MetadataFields } from '../../ui/forms/metadata-fields.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { Page } from '../../ui/layout/page.tsx';
import { HostportsField, linesToHostports } from './hostports-field.tsx';
import { edgesCrumb, listPaths } from './navigation.ts';

const oneLine: readonly string[] = [''];

export function NewEdge() {
  const { query } = useRoute();
  const { route } = useLocation();
  const fields = useFormFields(
    {
      kind: query.kind === 'tls' ? 'tls' : 'https',
      hostports: oneLine,
      description: '',
      metadata: '',
    },
    { draft: 'new empty edge' },
  );
  const { values, bind } = fields;
  const createHttps = useMutation(CreateHttpsEdge);
  const createTls = useMutation(CreateTlsEdge);

  async function submit() {
    const { kind, ...rest } = values;
    const input = { ...rest, hostports: linesToHostports(rest.hostports) };
    if (kind === 'https') {
      const edge = (await createHttps.mutate({ input }))?.createHttpsEdge;
      if (edge) done(objectPath('httpsEdge', edge.id));
    } else {
      const edge = (await createTls.mutate({ input }))?.createTlsEdge;
      if (edge) done(objectPath('tlsEdge', edge.id));
    }
  }

  function done(path: string) {
    fields.saved();
    route(path);
  }

  return (
    <Page
      title="New edge without a backend"
      crumbs={[edgesCrumb]}
      lead="Where its traffic goes, and through which modules, is set once it is there."
    >
      <Form
        submitLabel="Create the edge"
        fields={fields}
        onSubmit={() => void submit()}
        error={values.kind === 'https' ? createHttps.error : createTls.error}
        isBusy={createHttps.isBusy || createTls.isBusy}
        onCancel={() => route(values.kind === 'https' ? listPaths.https : listPaths.tls)}
      >
        <SelectField
          {...bind('kind')}
          label="Kind"
          options={[
            { value: 'https', title: 'HTTPS: each request goes by its path' },
            { value: 'tls', title: 'TLS: each connection goes as a whole' },
          ]}
        />
        <HostportsField {...bind('hostports')} />
        <MetadataFields bind={bind} />
      </Form>
    </Page>
  );
}
