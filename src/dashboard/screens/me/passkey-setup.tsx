import { useState } from 'preact/hooks';
import { type ApiFailure, toApiFailure } from '../../data/client/client.ts';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { createPasskey } from '../../data/session/passkeys.ts';
import { AddPasskey, BeginPasskey } from '../../generated/operations.ts';
import { toast } from '../../ui/feedback/toast.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { allOf, maxBytes, required } from '../../ui/forms/validators.ts';
import { CodeField } from '../sign-in/code-field.tsx';
import { describeBrowser } from './browser-name.ts';
import { OwnPasswordField } from './own-password-field.tsx';

interface PasskeySetupProps {
  /** Whether the viewer has a second factor. */
  needsCode: boolean;
  onDone: () => void;
  onCancel: () => void;
}

/** Adds a passkey: the password, and a code where there is a second factor; then the browser asks for the device. */
export function PasskeySetup({ needsCode, onDone, onCancel }: PasskeySetupProps) {
  const fields = useFormFields({ name: describeBrowser(navigator.userAgent), password: '', code: '' });
  const begin = useMutation(BeginPasskey);
  const add = useMutation(AddPasskey);
  const [refusal, setRefusal] = useState<ApiFailure>();
  const [isAsking, setAsking] = useState(false);
  const { password, code } = fields.values;
  const name = fields.values.name.trim();

  async function submit() {
    setRefusal(undefined);
    add.reset();
    const options = (await begin.mutate({ input: { password, code } }))?.beginPasskey?.options;
    if (!options) return;
    setAsking(true);
    try {
      if (!(await add.mutate({ input: { name, credential: await createPasskey(options) } }))) return;
      toast(`The passkey “${name}” is added.`);
      onDone();
    } catch (error) {
      setRefusal(toApiFailure(error));
    } finally {
      setAsking(false);
    }
  }

  return (
    <Form
      submitLabel="Add the passkey"
      onSubmit={() => void submit()}
      error={begin.error ?? refusal ?? add.error}
      isBusy={begin.isBusy || isAsking}
      onCancel={onCancel}
    >
      <TextField
        {...fields.bind('name')}
        label="Name"
        help="What you call the device that has it."
        validate={allOf(required('A name'), maxBytes(255))}
      />
      <OwnPasswordField {...fields.bind('password')} />
      {needsCode && <CodeField {...fields.bind('code')} />}
    </Form>
  );
}
