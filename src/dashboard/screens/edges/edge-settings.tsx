// The form for the names or addresses, description and metadata of edges.

import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { toast } from '../../ui/feedback/toast.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { MetadataFields } from '../../ui/forms/metadata-fields.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { Section } from '../../ui/layout/page.tsx';
import { HostportsField, linesToHostports } from './hostports-field.tsx';
import { updateOperations } from './modules/hosts.ts';
import { type EdgeKind, edgeLists, hostName } from './navigation.ts';

interface EdgeSettingsProps {
  kind: EdgeKind;
  edge: { id: string; hostports: readonly string[]; description: string; metadata: string };
}

export function EdgeSettings({ kind, edge }: EdgeSettingsProps) {
  const { id, hostports, description, metadata } = edge;
  const fields = useFormFields(
    {
      hostports: hostports.map(hostName) as readonly string[],
      description,
      metadata,
    },
    { draft: `edge ${id}`, kind },
  );
  const { values, bind } = fields;
  const update = useMutation(updateOperations[kind]);
  const { route } = useLocation();

  async function submit() {
    const input = { ...values, hostports: linesToHostports(kind, values.hostports) };
    if (!(await update.mutate({ id, input }))) return;
    fields.saved();
    toast('The edge is changed.');
  }

  return (
    <Section title="Settings">
      <Form
        submitLabel="Save"
        fields={fields}
        onSubmit={() => void submit()}
        error={update.error}
        isBusy={update.isBusy}
        onCancel={() => route(edgeLists[kind])}
      >
        <HostportsField kind={kind} {...bind('hostports')} />
        <MetadataFields bind={bind} />
      </Form>
    </Section>
  );
}
