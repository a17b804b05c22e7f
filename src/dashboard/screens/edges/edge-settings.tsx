// What HTTPS and TLS edges have in common: their names, their notes, and their end.

import { useLocation } from 'preact-iso/router';
import { useAction } from '../../data/use-action.ts';
import { useFields } from '../../data/use-fields.ts';
import { Form } from '../../ui/form.tsx';
import { Section } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { HostportsField, hostportsOf } from './hostports-field.tsx';
import { updateOperations } from './modules/hosts.ts';
import { NotedFields } from './noted-fields.tsx';
import { lists, nameOf } from './places.ts';

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
