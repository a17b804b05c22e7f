// Makes an edge.

import { useLocation, useRoute } from 'preact-iso/router';
import { addressOf } from '../../data/addresses.ts';
import { useAction } from '../../data/use-action.ts';
import { useFields } from '../../data/use-fields.ts';
import { CreateHttpsEdge, CreateTlsEdge } from '../../generated/operations.ts';
import { SelectField } from '../../ui/choice-fields.tsx';
import { Form } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { HostportsField, hostportsOf } from './hostports-field.tsx';
import { NotedFields } from './noted-fields.tsx';
import { edgesCrumb, lists } from './places.ts';

const oneLine: readonly string[] = [''];

export function NewEdge() {
  const { query } = useRoute();
  const { route } = useLocation();
  const { values, bind } = useFields({
    kind: query.kind === 'tls' ? 'tls' : 'https',
    hostports: oneLine,
    description: '',
    metadata: '',
  });
  const createHttps = useAction(CreateHttpsEdge);
  const createTls = useAction(CreateTlsEdge);

  async function submit() {
    const { kind, ...rest } = values;
    const input = { ...rest, hostports: hostportsOf(rest.hostports) };
    if (kind === 'https') {
      const edge = (await createHttps.act({ input }))?.createHttpsEdge;
      if (edge) route(addressOf('httpsEdge', edge.id));
    } else {
      const edge = (await createTls.act({ input }))?.createTlsEdge;
      if (edge) route(addressOf('tlsEdge', edge.id));
    }
  }

  return (
    <Page
      title="New edge"
      crumbs={[edgesCrumb]}
      lead="Where its traffic goes, and through which modules, is set once it is there."
    >
      <Form
        action="Create the edge"
        onSubmit={() => void submit()}
        error={values.kind === 'https' ? createHttps.error : createTls.error}
        isBusy={createHttps.isBusy || createTls.isBusy}
        onCancel={() => route(values.kind === 'https' ? lists.https : lists.tls)}
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
        <NotedFields bind={bind} />
      </Form>
    </Page>
  );
}
