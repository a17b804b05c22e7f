import type { ApiFailure } from '../../data/client/client.ts';
import { Form } from '../forms/form.tsx';
import { TextArea, TextField } from '../forms/text-field.tsx';
import { useFormFields } from '../forms/use-form-fields.ts';
import { validateDescription, validateMetadata } from '../forms/validators.ts';
import { Dialog } from './dialog.tsx';

/** The description and metadata that every object of the API can have. */
export interface DescribedObject {
  description: string;
  metadata: string;
}

interface MetadataDialogProps {
  title: string;
  object: DescribedObject;
  error: ApiFailure | undefined;
  isBusy: boolean;
  /** The kind and the id of the object, for changes of somebody else and the draft. */
  kind: string;
  id: string;
  /** @param previous the values before, for an undo. @returns whether it was saved. */
  onSave: (input: DescribedObject, previous: DescribedObject) => Promise<boolean>;
  onClose: () => void;
}

/** A dialog that edits the description and metadata of an object. */
export function MetadataDialog({ title, object, error, isBusy, kind, id, onSave, onClose }: MetadataDialogProps) {
  const previous = { description: object.description, metadata: object.metadata };
  const fields = useFormFields(previous, { draft: `${kind} ${id}`, kind });
  const { bind, values } = fields;

  async function save() {
    if (!(await onSave(values, previous))) return;
    fields.saved();
    onClose();
  }

  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        submitLabel="Save"
        fields={fields}
        onSubmit={() => void save()}
        error={error}
        isBusy={isBusy}
        onCancel={onClose}
      >
        <TextField {...bind('description')} label="Description" help="For people." validate={validateDescription} />
        <TextArea
          {...bind('metadata')}
          label="Metadata"
          help="For machines: any text."
          validate={validateMetadata}
          isCode
        />
      </Form>
    </Dialog>
  );
}
