import { useMutation } from '../../data/hooks/use-mutation.ts';
import { ChangeAgent } from '../../generated/operations.ts';
import { Dialog } from '../../ui/dialogs/dialog.tsx';
import { toastWithUndo } from '../../ui/feedback/toast.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { KeyValueField, type KeyValuePair, pairsToRecord, recordToPairs } from '../../ui/forms/key-value-field.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { validateLabelKey, validateLabelValue } from './label-validators.ts';
import type { ShownAgent } from './shown-agent.ts';

/** Names and labels an agent. What it says of itself stays beside that. */
export function ChangeAgentDialog({ agent, onClose }: { agent: ShownAgent; onClose: () => void }) {
  const { id, assignedName, assignedLabels, reportedName, hostName, ip } = agent;
  const fields = useFormFields({
    name: assignedName ?? '',
    labels: recordToPairs(assignedLabels) as readonly KeyValuePair[],
  });
  const { bind, values } = fields;
  const change = useMutation(ChangeAgent);

  async function submit() {
    if (!(await change.mutate({ id, input: { name: values.name, labels: pairsToRecord(values.labels) } }))) return;
    fields.saved();
    const before = { name: assignedName ?? '', labels: assignedLabels };
    toastWithUndo('The agent is changed.', ChangeAgent, { id, input: before });
    onClose();
  }

  return (
    <Dialog title="Name and labels" onClose={onClose}>
      <Form
        submitLabel="Save"
        fields={fields}
        onSubmit={() => void submit()}
        error={change.error}
        isBusy={change.isBusy}
        onCancel={onClose}
      >
        <TextField
          {...bind('name')}
          label="Name"
          placeholder={reportedName || hostName || ip}
          help="Empty: as the agent calls itself."
        />
        <KeyValueField
          {...bind('labels')}
          label="Labels"
          itemName="label"
          titles={['Key', 'Value']}
          placeholders={['site', 'berlin']}
          help="They go before labels of the same keys that the agent gives itself."
          validateName={validateLabelKey}
          validateValue={validateLabelValue}
          maxPairs={20}
        />
      </Form>
    </Dialog>
  );
}
