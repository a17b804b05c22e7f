// Creates or edits an event subscription.

import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import {
  CreateEventSubscription,
  EventCatalogue,
  type EventSubscriptionFactsFragment,
  UpdateEventSubscription,
} from '../../../generated/operations.ts';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Note } from '../../../ui/feedback/note.tsx';
import { Skeleton } from '../../../ui/feedback/skeleton.tsx';
import { Form } from '../../../ui/forms/form.tsx';
import { TextArea, TextField } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { validateDescription, validateMetadata } from '../../../ui/forms/validators.ts';
import { DestinationPicker } from './destination-picker.tsx';
import { EventTypePicker } from './event-type-picker.tsx';
import { sourcesInWords, sourcesOfSubscription, sourcesToInput } from './sources.ts';

interface SubscriptionFormProps {
  subscription?: EventSubscriptionFactsFragment;
  onDone: (id: string) => void;
  onCancel: () => void;
}

export function SubscriptionForm({ subscription, onDone, onCancel }: SubscriptionFormProps) {
  const catalogue = useQuery(EventCatalogue, {});
  const fields = useFormFields(
    {
      description: subscription?.description ?? '',
      metadata: subscription?.metadata ?? '',
      destinationIds: (subscription?.destinations.map(({ id }) => id) ?? []) as readonly string[],
      sources: sourcesOfSubscription(subscription),
    },
    {
      draft: `event subscription ${subscription?.id ?? 'new'}`,
      words: { sources: { label: 'Events', describe: sourcesInWords } },
      kind: subscription && 'eventSubscription',
    },
  );
  const { values, bind } = fields;
  const { sources } = values;
  const create = useMutation(CreateEventSubscription);
  const update = useMutation(UpdateEventSubscription);
  const count = Object.keys(sources).length;

  async function submit() {
    const input = { ...values, destinationIds: [...values.destinationIds], sources: sourcesToInput(sources) };
    const id = subscription
      ? (await update.mutate({ id: subscription.id, input }))?.updateEventSubscription?.eventSubscription?.id
      : (await create.mutate({ input }))?.createEventSubscription?.eventSubscription?.id;
    if (!id) return;
    fields.saved();
    onDone(id);
  }

  return (
    <Form
      submitLabel={subscription ? 'Save' : 'Create the subscription'}
      fields={fields}
      onSubmit={() => void submit()}
      error={create.error ?? update.error}
      isBusy={create.isBusy || update.isBusy}
      onCancel={onCancel}
    >
      <TextField {...bind('description')} label="Description" help="For people." validate={validateDescription} />
      <DestinationPicker {...bind('destinationIds')} />
      <div>
        <h2>Events</h2>
        <p class="help">{count === 0 ? 'None is chosen yet.' : `${count} ${count === 1 ? 'type' : 'types'} chosen.`}</p>
      </div>
      <ErrorNote error={catalogue.error} retry={() => void catalogue.refetch()} />
      {catalogue.isLoading && <Skeleton lines={8} />}
      {catalogue.data && <EventTypePicker {...bind('sources')} types={catalogue.data.eventTypes} />}
      <TextArea
        {...bind('metadata')}
        label="Metadata"
        help="For machines: any text."
        rows={2}
        validate={validateMetadata}
        isCode
      />
      {(count === 0 || values.destinationIds.length === 0) && (
        <Note>
          {count === 0 ? 'Without a type of event' : 'Without a destination'} it can be kept, but delivers nothing.
        </Note>
      )}
    </Form>
  );
}
