import { useState } from 'preact/hooks';
import { Form } from '../../forms/form.tsx';
import { KeyValueField, type KeyValuePair } from '../../forms/key-value-field.tsx';
import { ListField, nonEmptyLines } from '../../forms/list-field.tsx';
import type { ActionFormProps } from './target.ts';

/** Chooses which labels many objects are to get, and which they are to lose. */
export function ChangeLabelsForm({ error, isBusy, onSubmit, onClose }: ActionFormProps) {
  const [set, setSet] = useState<readonly KeyValuePair[]>([{ name: '', value: '' }]);
  const [removed, setRemoved] = useState<readonly string[]>([]);
  const labels = Object.fromEntries(
    set.filter(({ name }) => name.trim()).map(({ name, value }) => [name.trim(), value]),
  );
  const keys = nonEmptyLines(removed);
  const isEmpty = Object.keys(labels).length === 0 && keys.length === 0;

  return (
    <Form
      submitLabel="Change the labels"
      error={error}
      isBusy={isBusy}
      onSubmit={() => {
        if (!isEmpty) onSubmit({ setLabels: labels, removeLabels: keys });
      }}
      onCancel={onClose}
    >
      <KeyValueField
        name="setLabels"
        label="Labels to set"
        itemName="label"
        titles={['Key', 'Value']}
        placeholders={['site', 'berlin']}
        help="Other labels stay as they are."
        value={set}
        onChange={setSet}
        validate={() => (isEmpty ? 'Name a label to set or to take away.' : null)}
      />
      <ListField
        name="removeLabels"
        label="Labels to take away, by their keys"
        itemName="label"
        placeholder="site"
        value={removed}
        onChange={setRemoved}
      />
    </Form>
  );
}
