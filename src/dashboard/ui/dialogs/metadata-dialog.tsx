import type { ApiFailure } from '../../data/client/client.ts';
import { Form } from '../forms/form.tsx';
import { TextArea, TextField } from '../forms/text-field.tsx';
import { useFields } from '../forms/use-form-fields.ts';
import { description, metadata } from '../forms/validators.ts';
import { Dialog } from './dialog.tsx';

/** What can be noted of an object. */
export interface Noted {
  description: string;
  metadata: string;
}

interface NotesDialogProps {
  title: string;
  noted: Noted;
  error: ApiFailure | undefined;
  isBusy: boolean;
  /** @param before what was noted when it was opened. */
  onSave: (input: Noted, before: Noted) => Promise<void>;
  onClose: () => void;
}

/** Changes what is noted of an object. */
export function NotesDialog({ title, noted, error, isBusy, onSave, onClose }: NotesDialogProps) {
  const before = { description: noted.description, metadata: noted.metadata };
  const { bind, values } = useFields(before);
  return (
    <Dialog title={title} onClose={onClose}>
      <Form action="Save" onSubmit={() => void onSave(values, before)} error={error} isBusy={isBusy} onCancel={onClose}>
        <TextField {...bind('description')} label="Description" help="For people." check={description} />
        <TextArea {...bind('metadata')} label="Metadata" help="For machines: any text." check={metadata} isCode />
      </Form>
    </Dialog>
  );
}
