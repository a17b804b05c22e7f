// Checkboxes for objects by their ids: credentials, certificates, destinations, channels.

import { useId } from 'preact/hooks';
import type { LiveList } from '../../../data/hooks/use-list.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../../ui/feedback/skeleton.tsx';
import { useFieldError } from '../../../ui/forms/form.tsx';
import type { FieldBinding } from '../../../ui/forms/use-form-fields.ts';

export interface Choice {
  id: string;
  title: string;
}

interface IdPickerProps<Row extends { id: string }> extends FieldBinding<readonly string[]> {
  legend: string;
  help: string;
  list: LiveList<Row>;
  titleOf: (row: Row) => string;
  /** How many may be chosen. */
  max: number;
  /** Said where there is nothing to choose. */
  none: string;
}

export function IdPicker<Row extends { id: string }>(props: IdPickerProps<Row>) {
  const { name, value, onChange, legend, help, list, titleOf, max, none } = props;
  const id = useId();
  const { fieldError } = useFieldError(name, value, (ids) =>
    ids.length > max ? `At most ${max} can be chosen.` : null,
  );
  // What is chosen may be on a page that is not loaded.
  const others = list.isLoading ? [] : value.filter((chosen) => !list.rows.some((row) => row.id === chosen));
  const choices: Choice[] = [
    ...list.rows.map((row) => ({ id: row.id, title: titleOf(row) })),
    ...others.map((other) => ({ id: other, title: other })),
  ];
  const describedBy = [`${id}-help`, ...(fieldError ? [`${id}-error`] : [])].join(' ');
  return (
    <fieldset class="field list" aria-describedby={describedBy}>
      <legend>{legend}</legend>
      <p class="help" id={`${id}-help`}>
        {help}
      </p>
      <ErrorNote error={list.error} retry={list.refetch} />
      {list.isLoading && <Skeleton />}
      {!list.isLoading && choices.length === 0 && <p>{none}</p>}
      <div class="choices">
        {choices.map((choice) => (
          <label key={choice.id} class="choice">
            <input
              type="checkbox"
              checked={value.includes(choice.id)}
              onChange={(event) =>
                onChange(
                  event.currentTarget.checked ? [...value, choice.id] : value.filter((other) => other !== choice.id),
                )
              }
            />
            <span>{choice.title}</span>
          </label>
        ))}
      </div>
      {list.hasMore && <Button onClick={list.loadMore}>Offer older ones, too</Button>}
      {fieldError && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {fieldError}
        </p>
      )}
    </fieldset>
  );
}
