import { useId } from 'preact/hooks';
import { useList } from '../../../data/hooks/use-list.ts';
import { EventDestinationChoices } from '../../../generated/operations.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../../ui/feedback/skeleton.tsx';
import { useFieldError } from '../../../ui/forms/form-context.ts';
import type { FieldBinding } from '../../../ui/forms/use-form-fields.ts';
import { targetText } from '../destinations/target-values.ts';
import { newDestination } from '../navigation.ts';

const MAX_DESTINATIONS = 100;

/** Checkboxes for the destinations of a subscription. */
export function DestinationPicker({ name, value, onChange }: FieldBinding<readonly string[]>) {
  const id = useId();
  const list = useList(EventDestinationChoices, {}, (result) => result.eventDestinations, {
    kinds: ['eventDestination'],
  });
  const { fieldError } = useFieldError(name, value, (ids) =>
    ids.length > MAX_DESTINATIONS ? `At most ${MAX_DESTINATIONS} can be chosen.` : null,
  );
  // Selected destinations may be on pages that are not loaded.
  const others = list.isLoading ? [] : value.filter((chosen) => !list.rows.some((row) => row.id === chosen));
  const rows = [
    ...list.rows.map((row) => ({ id: row.id, title: row.description || row.id, where: targetText(row.target) })),
    ...others.map((other) => ({ id: other, title: other, where: '' })),
  ];
  return (
    <fieldset class="field list" aria-describedby={fieldError ? `${id}-error` : undefined}>
      <legend>Destinations</legend>
      <ErrorNote error={list.error} retry={list.refetch} />
      {list.isLoading && <Skeleton />}
      {!list.isLoading && rows.length === 0 && (
        <p>There is no destination yet: nothing is delivered until this subscription names one.</p>
      )}
      {rows.map((row) => (
        <label key={row.id} class="event-check">
          <input
            type="checkbox"
            checked={value.includes(row.id)}
            onChange={(event) =>
              onChange(event.currentTarget.checked ? [...value, row.id] : value.filter((other) => other !== row.id))
            }
          />
          <span>
            {row.title} <span class="muted">{row.where}</span>
          </span>
        </label>
      ))}
      <div class="actions">
        {list.hasMore && <Button onClick={list.loadMore}>Offer older ones, too</Button>}
        {rows.length === 0 && !list.isLoading && <LinkButton href={newDestination}>New destination</LinkButton>}
      </div>
      {fieldError && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {fieldError}
        </p>
      )}
    </fieldset>
  );
}
