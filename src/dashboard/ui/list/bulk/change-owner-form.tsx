import { useState } from 'preact/hooks';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { OwnerChoices } from '../../../generated/operations.ts';
import { SelectField } from '../../forms/choice-fields.tsx';
import { Form } from '../../forms/form.tsx';
import type { ActionFormProps } from './target.ts';

/** Chooses who is to hold many objects. */
export function ChangeOwnerForm({ error, isBusy, onSubmit, onClose }: ActionFormProps) {
  const { data } = useQuery(OwnerChoices, {});
  const [chosen, setChosen] = useState('');
  const owners = [...(data?.users?.nodes ?? []), ...(data?.botUsers?.nodes ?? [])].filter(({ active }) => active);
  const isCut = data?.users?.pageInfo.hasNextPage || data?.botUsers?.pageInfo.hasNextPage;
  return (
    <Form
      submitLabel="Change the holder"
      error={error}
      isBusy={isBusy}
      onSubmit={() => onSubmit({ ownerId: chosen })}
      onCancel={onClose}
    >
      <SelectField
        name="ownerId"
        label="Held by"
        value={chosen}
        onChange={setChosen}
        validate={(value) => (value ? null : 'Choose somebody.')}
        help={isCut ? 'The newest 100 users and bot users are offered.' : undefined}
        options={[
          { value: '', title: 'Choose …' },
          ...owners.map((owner) => ({
            value: owner.id,
            title: owner.__typename === 'User' ? owner.email : `${owner.name} (bot user)`,
          })),
        ]}
      />
    </Form>
  );
}
