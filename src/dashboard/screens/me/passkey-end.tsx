import { useMutation } from '../../data/hooks/use-mutation.ts';
import { RemovePasskey } from '../../generated/operations.ts';
import { toast } from '../../ui/feedback/toast.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { CodeField } from '../sign-in/code-field.tsx';
import { OwnPasswordField } from './own-password-field.tsx';

interface PasskeyEndProps {
  passkey: { id: string; name: string };
  /** Whether the viewer has a second factor. */
  needsCode: boolean;
  onDone: () => void;
  onCancel: () => void;
}

/** Removes a passkey of the viewer. */
export function PasskeyEnd({ passkey: { id, name }, needsCode, onDone, onCancel }: PasskeyEndProps) {
  const fields = useFormFields({ password: '', code: '' });
  const remove = useMutation(RemovePasskey);

  async function submit() {
    if (!(await remove.mutate({ id, input: fields.values }))) return;
    toast(`The passkey “${name}” is removed.`);
    onDone();
  }

  return (
    <Form
      submitLabel="Remove the passkey"
      onSubmit={() => void submit()}
      error={remove.error}
      isBusy={remove.isBusy}
      onCancel={onCancel}
    >
      <p>
        <strong>{name}</strong> signs you in no more. The device keeps showing it until you remove it there, too.
      </p>
      <OwnPasswordField {...fields.bind('password')} />
      {needsCode && <CodeField {...fields.bind('code')} />}
    </Form>
  );
}
