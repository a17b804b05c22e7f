// Creates or edits an event destination.

import { useMutation } from '../../../data/hooks/use-mutation.ts';
import {
  CreateEventDestination,
  type EventTargetFactsFragment,
  UpdateEventDestination,
} from '../../../generated/operations.ts';
import { Form } from '../../../ui/forms/form.tsx';
import { TextArea, TextField } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { validateDescription, validateMetadata } from '../../../ui/forms/validators.ts';
import { TargetFields } from './target-fields.tsx';
import {
  fieldName,
  formToTarget,
  type TargetFormState,
  targetInWords,
  targetToForm,
  targetWithoutSecrets,
  visibleMembers,
} from './target-values.ts';

/** A new secret of a target that the receiver of the events needs too. */
export interface NewTargetSecret {
  secret: string;
  /** What the secret is: `signing secret`. */
  name: string;
  advice: string;
}

interface DestinationFormProps {
  destination?: { id: string; description: string; metadata: string; target: EventTargetFactsFragment };
  /** Called with the new secret, if there is one. It is never shown again. */
  onDone: (id: string, made?: NewTargetSecret) => void;
  onCancel: () => void;
}

export function DestinationForm({ destination, onDone, onCancel }: DestinationFormProps) {
  const storedTarget = destination && targetToForm(destination.target);
  const fields = useFormFields(
    {
      description: destination?.description ?? '',
      metadata: destination?.metadata ?? '',
      target: storedTarget ?? targetToForm(),
    },
    {
      draft: `event destination ${destination?.id ?? 'new'}`,
      kind: destination && 'eventDestination',
      words: { target: { label: 'Where events are sent', describe: targetInWords } },
      storable: ({ target, ...texts }) => ({ ...texts, target: targetWithoutSecrets(target) }),
    },
  );
  const { values, bind } = fields;
  const choice = values.target;
  const create = useMutation(CreateEventDestination);
  const update = useMutation(UpdateEventDestination);

  async function submit() {
    const isSame = storedTarget && JSON.stringify(formToTarget(storedTarget)) === JSON.stringify(formToTarget(choice));
    const { description, metadata } = values;
    const input = { description, metadata, target: isSame ? undefined : formToTarget(choice) };
    const id = destination
      ? (await update.mutate({ id: destination.id, input }))?.updateEventDestination?.eventDestination?.id
      : (await create.mutate({ input }))?.createEventDestination?.eventDestination?.id;
    if (!id) return;
    fields.saved();
    onDone(id, newSecretIn(choice));
  }

  return (
    <Form
      submitLabel={destination ? 'Save' : 'Create the destination'}
      fields={fields}
      onSubmit={() => void submit()}
      error={create.error ?? update.error}
      isBusy={create.isBusy || update.isBusy}
      onCancel={onCancel}
    >
      <TextField {...bind('description')} label="Description" help="For people." validate={validateDescription} />
      <TargetFields {...bind('target')} storedTarget={storedTarget} />
      <TextArea
        {...bind('metadata')}
        label="Metadata"
        help="For machines: any text."
        rows={2}
        validate={validateMetadata}
        isCode
      />
    </Form>
  );
}

/** A secret that was typed or generated in the form. */
function newSecretIn(choice: TargetFormState): NewTargetSecret | undefined {
  for (const member of visibleMembers(choice)) {
    const secret = member.generator && choice.values[fieldName(choice.kind, member)];
    if (member.generator && secret)
      return { secret, name: member.generator.secretName, advice: member.generator.advice };
  }
  return undefined;
}
