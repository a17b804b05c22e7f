// The form for an edge alone: with any number of names, and nothing behind it yet.

import { useLocation, useRoute } from 'preact-iso/router';
import type { Operation } from '../../data/client/operation.ts';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { objectPath } from '../../data/routing/paths.ts';
import {
  CreateHttpsEdge,
  type CreateHttpsEdgeMutation,
  CreateTcpEdge,
  CreateTlsEdge,
} from '../../generated/operations.ts';
import { SelectField } from '../../ui/forms/choice-fields.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { MetadataFields } from '../../ui/forms/metadata-fields.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { Page } from '../../ui/layout/page.tsx';
import { HostportsField, linesToHostports } from './hostports-field.tsx';
import { type EdgeKind, edgeLists, edgesCrumb } from './navigation.ts';

const oneLine: readonly string[] = [''];

/** The inputs of the three have the same members here. */
type CreateOperation = Operation<CreateHttpsEdgeMutation, { input: object }>;
const createOperations: Record<EdgeKind, CreateOperation> = {
  httpsEdge: CreateHttpsEdge as CreateOperation,
  tlsEdge: CreateTlsEdge as CreateOperation,
  tcpEdge: CreateTcpEdge as CreateOperation,
};

/** The kinds as the field has them, and links to the form. */
const KINDS: Record<string, EdgeKind> = { https: 'httpsEdge', tls: 'tlsEdge', tcp: 'tcpEdge' };

export function NewEdge() {
  const { query } = useRoute();
  const { route } = useLocation();
  const fields = useFormFields(
    {
      kind: query.kind !== undefined && Object.hasOwn(KINDS, query.kind) ? query.kind : 'https',
      hostports: oneLine,
      description: '',
      metadata: '',
    },
    { draft: 'new empty edge' },
  );
  const { values, bind } = fields;
  const kind = KINDS[values.kind] ?? 'httpsEdge';
  const create = useMutation(createOperations[kind]);

  async function submit() {
    const { kind: _, ...rest } = values;
    const input = { ...rest, hostports: linesToHostports(kind, rest.hostports) };
    const edge = (await create.mutate({ input }))?.created?.edge;
    if (!edge) return;
    fields.saved();
    route(objectPath(kind, edge.id));
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
        error={create.error}
        isBusy={create.isBusy}
        onCancel={() => route(edgeLists[kind])}
      >
        <SelectField
          {...bind('kind')}
          label="Kind"
          options={[
            { value: 'https', title: 'HTTPS: each request goes by its path' },
            { value: 'tls', title: 'TLS: each connection goes as a whole' },
            { value: 'tcp', title: 'TCP: each connection to an address goes as a whole' },
          ]}
        />
        <HostportsField kind={kind} {...bind('hostports')} />
        <MetadataFields bind={bind} />
      </Form>
    </Page>
  );
}
