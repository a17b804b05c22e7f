import { useMutation } from '../../data/hooks/use-mutation.ts';
import { DisableSecondFactor } from '../../generated/operations.ts';
import { toast } from '../../ui/feedback/toast.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { CodeField } from '../sign-in/code-field.tsx';
import { OwnPasswordField } from './own-password-field.tsx';

/** Turns the viewer's own second factor off. */
export function SecondFactorEnd({ onDone, onCancel }: { onDone: () => void; onCancel: () => void }) {
  const fields = useFormFields({ password: '', code: '' });
  const disable = useMutation(DisableSecondFactor);

  async function submit() {
    if (!(await disable.mutate({ input: fields.values }))) return;
    toast('Your second factor is off.');
    onDone();
  }

  return (
    <Form
      submitLabel="Turn the second factor off"
      onSubmit={() => void submit()}
      error={disable.error}
      isBusy={disable.isBusy}
      onCancel={onCancel}
    >
      <OwnPasswordField {...fields.bind('password')} />
      <CodeField {...fields.bind('code')} />
    </Form>
  );
}
