import { useMutation } from '../../data/hooks/use-mutation.ts';
import { ReplaceRecoveryCodes } from '../../generated/operations.ts';
import { Form } from '../../ui/forms/form.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { CodeField } from '../sign-in/code-field.tsx';
import { OwnPasswordField } from './own-password-field.tsx';

interface RecoveryCodesProps {
  /** Called with the codes that take the place of those of before. */
  onDone: (recoveryCodes: string[]) => void;
  onCancel: () => void;
}

/** Makes other recovery codes for the viewer. */
export function RecoveryCodes({ onDone, onCancel }: RecoveryCodesProps) {
  const fields = useFormFields({ password: '', code: '' });
  const replace = useMutation(ReplaceRecoveryCodes);

  async function submit() {
    const codes = (await replace.mutate({ input: fields.values }))?.replaceRecoveryCodes?.recoveryCodes;
    if (codes) onDone(codes);
  }

  return (
    <Form
      submitLabel="Make other recovery codes"
      onSubmit={() => void submit()}
      error={replace.error}
      isBusy={replace.isBusy}
      onCancel={onCancel}
    >
      <p>The recovery codes of before end with it.</p>
      <OwnPasswordField {...fields.bind('password')} />
      <CodeField {...fields.bind('code')} />
    </Form>
  );
}
