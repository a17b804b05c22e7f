// Fields that select referenced objects, and can create a missing one in a dialog.

import type { ComponentChildren, ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialogs/dialog.tsx';
import { Field, type FieldProps } from '../../../ui/forms/field.tsx';
import type { ObjectFormCallers } from '../../../ui/forms/object-form.tsx';
import { PickedList, type PickedListOptions } from './picked-list.tsx';
import { type ReferenceOption, type ReferenceType, useReferenceTitles } from './references.ts';

/** The form that creates an object, in a dialog or on a page of its own. */
export type CreateForm = ComponentType<ObjectFormCallers>;

interface ReferenceProps {
  type: ReferenceType;
  form: CreateForm;
}

/** A select box for one object. */
export function ReferenceField({ type, form, ...field }: FieldProps<string> & ReferenceProps) {
  const { value, onChange } = field;
  const { options, loadMore } = useSelectableOptions(type, value ? [value] : []);
  return (
    <ReferencePicker type={type} form={form} onCreated={onChange} loadMore={loadMore}>
      <Field {...field} validate={(id) => (id === '' ? `Choose ${withArticle(type.noun)}, or make a new one.` : null)}>
        {(control) => (
          <select {...control} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
            <option value="">Choose {withArticle(type.noun)} …</option>
            {options.map(({ id, title }) => (
              <option key={id} value={id} selected={id === value}>
                {title}
              </option>
            ))}
          </select>
        )}
      </Field>
    </ReferencePicker>
  );
}

interface ReferenceListFieldProps extends FieldProps<readonly string[]>, ReferenceProps, PickedListOptions {
  maxItems: number;
  /** The id of an object that is not offered: the one that the form changes. */
  except?: string;
}

/** A field for a list of objects. */
export function ReferenceListField(props: ReferenceListFieldProps) {
  const { type, form, maxItems, except, isOrdered, besides, ...field } = props;
  const { value, onChange } = field;
  const { options, loadMore } = useSelectableOptions(type, value);
  const titleOf = (id: string) => options.find((choice) => choice.id === id)?.title ?? id;
  const remaining = options.filter(({ id }) => id !== except && !value.includes(id));
  const validate = (ids: readonly string[]) => {
    if (ids.length === 0) return `Choose at least one ${type.noun}, or make a new one.`;
    return ids.length > maxItems ? `At most ${maxItems} can be chosen.` : (field.validate?.(ids) ?? null);
  };
  const describe = (ids: readonly string[]) => ids.map(titleOf).join('\n');
  return (
    <ReferencePicker type={type} form={form} onCreated={(id) => onChange([...value, id])} loadMore={loadMore}>
      <Field {...field} validate={validate} describe={describe}>
        {(control) => (
          <div class="picked">
            <PickedList ids={value} titleOf={titleOf} onChange={onChange} isOrdered={isOrdered} besides={besides} />
            <select
              {...control}
              value=""
              onChange={(event) => {
                const id = event.currentTarget.value;
                event.currentTarget.value = '';
                if (id) onChange([...value, id]);
              }}
            >
              <option value="">
                {remaining.length > 0 ? `Add ${withArticle(type.noun)} …` : 'There is no other to add'}
              </option>
              {remaining.map(({ id, title }) => (
                <option key={id} value={id}>
                  {title}
                </option>
              ))}
            </select>
          </div>
        )}
      </Field>
    </ReferencePicker>
  );
}

interface ReferencePickerProps extends ReferenceProps {
  children: ComponentChildren;
  onCreated: (id: string) => void;
  /** Loads older objects; undefined if all are loaded. */
  loadMore: (() => void) | undefined;
}

function ReferencePicker({ type, form: Form, onCreated, loadMore, children }: ReferencePickerProps) {
  const [isCreating, setCreating] = useState(false);
  return (
    <div class="picker">
      {children}
      <div class="actions">
        <Button onClick={() => setCreating(true)}>New {type.noun}</Button>
        {loadMore && <Button onClick={loadMore}>Offer older ones, too</Button>}
      </div>
      {isCreating && (
        // React-style event bubbling would otherwise submit the surrounding form as well.
        <div onSubmit={(event) => event.stopPropagation()}>
          <Dialog title={`New ${type.noun}`} onClose={() => setCreating(false)}>
            <Form
              onDone={(id) => {
                setCreating(false);
                onCreated(id);
              }}
              onCancel={() => setCreating(false)}
            />
          </Dialog>
        </div>
      )}
    </div>
  );
}

/** The options, including the selected objects, which may be on pages that are not loaded. */
function useSelectableOptions(
  { useOptions }: ReferenceType,
  selectedIds: readonly string[],
): { options: readonly ReferenceOption[]; loadMore: (() => void) | undefined } {
  const { rows, hasMore, loadMore } = useOptions();
  const missing = selectedIds.filter((id) => !rows.some((row) => row.id === id));
  const nameOf = useReferenceTitles(missing);
  return {
    options: [...rows, ...missing.map((id) => ({ id, title: nameOf(id) }))],
    loadMore: hasMore ? loadMore : undefined,
  };
}

export function withArticle(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}
