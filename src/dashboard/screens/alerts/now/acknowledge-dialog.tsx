import { useState } from 'preact/hooks';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { AcknowledgeAlert } from '../../../generated/operations.ts';
import { Dialog } from '../../../ui/dialogs/dialog.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { Form } from '../../../ui/forms/form.tsx';
import { TextArea } from '../../../ui/forms/text-field.tsx';
import { maxBytes } from '../../../ui/forms/validators.ts';

const NOTE_MAX_BYTES = 1000;

/** Says that somebody is on it. */
export function AcknowledgeDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [note, setNote] = useState('');
  const acknowledge = useMutation(AcknowledgeAlert);

  async function submit() {
    if (!(await acknowledge.mutate({ id, note }))) return;
    toast('The alert is acknowledged.');
    onClose();
  }

  return (
    <Dialog title="Acknowledge this alert" onClose={onClose}>
      <Form
        submitLabel="Acknowledge"
        onSubmit={() => void submit()}
        error={acknowledge.error}
        isBusy={acknowledge.isBusy}
        onCancel={onClose}
      >
        <p>Channels are told again only when it is resolved.</p>
        <TextArea
          name="note"
          label="Note"
          help="For others who look at it; may be empty."
          rows={3}
          value={note}
          onChange={setNote}
          validate={maxBytes(NOTE_MAX_BYTES)}
        />
      </Form>
    </Dialog>
  );
}
