// What HTTPS and TLS edges have in common: their names, their notes, and their end.

import { useLocation } from 'preact-iso/router';
import { useAction } from '../../data/hooks/use-mutation.ts';
import { toast } from '../../ui/feedback/toast.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { NotedFields } from '../../ui/forms/metadata-fields.tsx';
import { useFields } from '../../ui/forms/use-form-fields.ts';
import { Section } from '../../ui/layout/page.tsx';
import { HostportsField, hostportsOf } from './hostports-field.tsx';
import { updateOperations } from './modules/hosts.ts';
import { lists, nameOf } from './navigation.ts';

interface EdgeSettingsProps {
  kind: 'httpsEdge' | 'tlsEdge';
  edge: { id: string; hostports: readonly string[]; description: string; metadata: string };
}

export function EdgeSettings({ kind, edge }: EdgeSettingsProps) {
  const { id, hostports, description, metadata } = edge;
  const { values, bind } = useFields({ hostports: hostports.map(nameOf) as readonly string[], description, metadata });
  const update = useAction(updateOperations[kind]);
  const { route } = useLocation();

  async function submit() {
    const input = { ...values, hostports: hostportsOf(values.hostports) };
    if (await update.act({ id, input })) toast('The edge is changed.');
  }

  return (
    <Section title="Settings">
      <Form
        action="Save"
        onSubmit={() => void submit()}
        error={update.error}
        isBusy={update.isBusy}
        onCancel={() => route(kind === 'httpsEdge' ? lists.https : lists.tls)}
      >
        <HostportsField {...bind('hostports')} />
        <NotedFields bind={bind} />
      </Form>
    </Section>
  );
}
