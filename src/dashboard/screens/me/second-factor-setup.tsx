// Setting a second factor up: the password, then the secret for the app, and a code that proves that the app has it.

import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { BeginSecondFactor, ConfirmSecondFactor } from '../../generated/operations.ts';
import { Form } from '../../ui/forms/form.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { required } from '../../ui/forms/validators.ts';
import { CodeBlock } from '../../ui/text/code-block.tsx';
import { QrCode } from '../../ui/text/qr-code.tsx';
import { OwnPasswordField } from './own-password-field.tsx';

interface SetupProps {
  /** Called with the recovery codes when the second factor is on. */
  onDone: (recoveryCodes: string[]) => void;
  onCancel: () => void;
}

export function SecondFactorSetup({ onDone, onCancel }: SetupProps) {
  const fields = useFormFields({ password: '' });
  const begin = useMutation(BeginSecondFactor);
  const [secret, setSecret] = useState<{ secret: string; url: string }>();

  async function submit() {
    const result = await begin.mutate(fields.values);
    if (result?.beginSecondFactor?.secret) setSecret(result.beginSecondFactor.secret);
  }

  if (secret) return <Confirmation {...secret} onDone={onDone} onCancel={onCancel} />;
  return (
    <Form
      submitLabel="Show the secret"
      onSubmit={() => void submit()}
      error={begin.error}
      isBusy={begin.isBusy}
      onCancel={onCancel}
    >
      <OwnPasswordField {...fields.bind('password')} />
    </Form>
  );
}

function Confirmation({ secret, url, onDone, onCancel }: SetupProps & { secret: string; url: string }) {
  const fields = useFormFields({ code: '' });
  const confirm = useMutation(ConfirmSecondFactor);

  async function submit() {
    const codes = (await confirm.mutate(fields.values))?.confirmSecondFactor?.recoveryCodes;
    if (codes) onDone(codes);
  }

  return (
    <>
      <p>
        Scan this with an app for codes (TOTP), type the secret into one, or{' '}
        <a href={url}>open an app on this device</a>. Nobody can read the secret afterwards.
      </p>
      <QrCode text={url} label="the secret, for the camera of another device" />
      <CodeBlock code={secret} label="the secret" />
      <p>Programs that take an address:</p>
      <CodeBlock code={url} label="the address" />
      <Form
        submitLabel="Turn the second factor on"
        onSubmit={() => void submit()}
        error={confirm.error}
        isBusy={confirm.isBusy}
        onCancel={onCancel}
      >
        <TextField
          {...fields.bind('code')}
          label="Code"
          autoComplete="one-time-code"
          isCode
          help="The six digits that the app shows now."
          validate={required('The code')}
        />
      </Form>
    </>
  );
}
