// The choice of what kind of backend is created, with the form for it.

import { useState } from 'preact/hooks';
import { SelectField } from '../../../ui/forms/choice-fields.tsx';
import type { ObjectFormCallers } from '../../../ui/forms/object-form.tsx';
import type { CreateForm } from '../references/reference-field.tsx';

export interface BackendKindForm {
  title: string;
  form: CreateForm;
}

interface KindChoiceProps extends ObjectFormCallers {
  kinds: readonly [BackendKindForm, ...BackendKindForm[]];
}

/** What was typed for one kind is a draft while another is looked at. */
export function KindChoice({ kinds, ...callers }: KindChoiceProps) {
  const [chosen, setChosen] = useState(kinds[0].title);
  const { form: Form } = kinds.find(({ title }) => title === chosen) ?? kinds[0];
  return (
    <div class="kind-choice">
      <SelectField
        name="kind"
        label="Kind"
        value={chosen}
        onChange={setChosen}
        options={kinds.map(({ title }) => ({ value: title, title }))}
      />
      <Form key={chosen} {...callers} />
    </div>
  );
}
