// Chooses objects that there are, or makes the one that is missing on the spot.

import type { ComponentChildren, ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialogs/dialog.tsx';
import { Field, type FieldProps } from '../../../ui/forms/field.tsx';
import { type Choice, type Thing, useNames } from './references.ts';

/** The form that makes one, in a dialog or on a page of its own. */
export type NewThing = ComponentType<{ onDone: (id: string) => void; onCancel: () => void }>;

interface PickProps {
  thing: Thing;
  form: NewThing;
}

/** One object. */
export function PickField({ thing, form, ...field }: FieldProps<string> & PickProps) {
  const { value, onChange } = field;
  const { choices, more } = useAll(thing, value ? [value] : []);
  return (
    <Picker thing={thing} form={form} onMade={onChange} more={more}>
      <Field {...field} validate={(id) => (id === '' ? `Choose ${an(thing.noun)}, or make a new one.` : null)}>
        {(control) => (
          <select {...control} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
            <option value="">Choose {an(thing.noun)} …</option>
            {choices.map(({ id, title }) => (
              <option key={id} value={id} selected={id === value}>
                {title}
              </option>
            ))}
          </select>
        )}
      </Field>
    </Picker>
  );
}

/** Several objects, in an order. */
export function PicksField({
  thing,
  form,
  most,
  ...field
}: FieldProps<readonly string[]> & PickProps & { most: number }) {
  const { value, onChange } = field;
  const { choices, more } = useAll(thing, value);
  const titleOf = (id: string) => choices.find((choice) => choice.id === id)?.title ?? id;
  const others = choices.filter(({ id }) => !value.includes(id));
  const check = (ids: readonly string[]) => {
    if (ids.length === 0) return `Choose at least one ${thing.noun}, or make a new one.`;
    return ids.length > most ? `At most ${most} can be chosen.` : null;
  };
  return (
    <Picker thing={thing} form={form} onMade={(id) => onChange([...value, id])} more={more}>
      <Field {...field} validate={check}>
        {(control) => (
          <div class="picked">
            {value.length > 0 && (
              <ul>
                {value.map((id) => (
                  <li key={id}>
                    <span>{titleOf(id)}</span>
                    <Button
                      variant="plain"
                      label={`Remove ${titleOf(id)}`}
                      onClick={() => onChange(value.filter((other) => other !== id))}
                    >
                      ✕
                    </Button>
                  </li>
                ))}
              </ul>
            )}
            <select
              {...control}
              value=""
              onChange={(event) => {
                const id = event.currentTarget.value;
                event.currentTarget.value = '';
                if (id) onChange([...value, id]);
              }}
            >
              <option value="">{others.length > 0 ? `Add ${an(thing.noun)} …` : 'There is no other to add'}</option>
              {others.map(({ id, title }) => (
                <option key={id} value={id}>
                  {title}
                </option>
              ))}
            </select>
          </div>
        )}
      </Field>
    </Picker>
  );
}

interface PickerProps extends PickProps {
  children: ComponentChildren;
  onMade: (id: string) => void;
  /** Asks for older ones; undefined when all are there. */
  more: (() => void) | undefined;
}

function Picker({ thing, form: Form, onMade, more, children }: PickerProps) {
  const [isMaking, setMaking] = useState(false);
  return (
    <div class="picker">
      {children}
      <div class="actions">
        <Button onClick={() => setMaking(true)}>New {thing.noun}</Button>
        {more && <Button onClick={more}>Offer older ones, too</Button>}
      </div>
      {isMaking && (
        // The form around this one is not sent with it.
        <div onSubmit={(event) => event.stopPropagation()}>
          <Dialog title={`New ${thing.noun}`} onClose={() => setMaking(false)}>
            <Form
              onDone={(id) => {
                setMaking(false);
                onMade(id);
              }}
              onCancel={() => setMaking(false)}
            />
          </Dialog>
        </div>
      )}
    </div>
  );
}

/** What can be chosen; what is chosen already is among it, however old it is. */
function useAll(
  { useChoices }: Thing,
  chosen: readonly string[],
): { choices: readonly Choice[]; more: (() => void) | undefined } {
  const { rows, hasMore, loadMore: more } = useChoices();
  const missing = chosen.filter((id) => !rows.some((row) => row.id === id));
  const nameOf = useNames(missing);
  return {
    choices: [...rows, ...missing.map((id) => ({ id, title: nameOf(id) }))],
    more: hasMore ? more : undefined,
  };
}

export function an(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}
