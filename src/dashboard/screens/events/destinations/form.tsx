// Makes an event destination, or changes one.

import { useState } from 'preact/hooks';
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
import { choiceIn, inputOf, membersOf, nameOf, type TargetChoice } from './target-values.ts';

/** A secret of a target that whoever receives the events needs as well. */
export interface MadeSecret {
  secret: string;
  /** What it is: `signing secret`. */
  what: string;
  advice: string;
}

interface DestinationFormProps {
  destination?: { id: string; description: string; metadata: string; target: EventTargetFactsFragment };
  /** With a secret that the other side needs, which is never shown again. */
  onDone: (id: string, made?: MadeSecret) => void;
  onCancel: () => void;
}

export function DestinationForm({ destination, onDone, onCancel }: DestinationFormProps) {
  const [known] = useState(() => (destination ? choiceIn(destination.target) : undefined));
  const [choice, setChoice] = useState(() => known ?? choiceIn());
  const { values, bind } = useFormFields({
    description: destination?.description ?? '',
    metadata: destination?.metadata ?? '',
  });
  const create = useMutation(CreateEventDestination);
  const update = useMutation(UpdateEventDestination);

  async function submit() {
    const isSame = known && JSON.stringify(inputOf(known)) === JSON.stringify(inputOf(choice));
    const input = { ...values, target: isSame ? undefined : inputOf(choice) };
    const id = destination
      ? (await update.mutate({ id: destination.id, input }))?.updateEventDestination?.id
      : (await create.mutate({ input }))?.createEventDestination?.id;
    if (id) onDone(id, madeSecretIn(choice));
  }

  return (
    <Form
      submitLabel={destination ? 'Save' : 'Create the destination'}
      onSubmit={() => void submit()}
      error={create.error ?? update.error}
      isBusy={create.isBusy || update.isBusy}
      onCancel={onCancel}
    >
      <TextField {...bind('description')} label="Description" help="For people." validate={validateDescription} />
      <TargetFields choice={choice} onChange={setChoice} known={known} />
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

/** A secret that was typed or made here. */
function madeSecretIn(choice: TargetChoice): MadeSecret | undefined {
  for (const member of membersOf(choice)) {
    const secret = member.made && choice.values[nameOf(choice.kind, member)];
    if (member.made && secret) return { secret, what: member.made.what, advice: member.made.advice };
  }
  return undefined;
}
