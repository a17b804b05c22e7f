import { viewer, viewerName } from '../../data/session/session.ts';
import { TextField, type TextFieldProps } from '../../ui/forms/text-field.tsx';
import { UserName } from '../../ui/forms/user-name.tsx';
import { required } from '../../ui/forms/validators.ts';

type OwnPasswordFieldProps = Pick<TextFieldProps, 'name' | 'value' | 'onChange'> & { label?: string };

/** The viewer's own password, which proves that it is still the viewer who sits there. */
export function OwnPasswordField({ label = 'Your password', ...field }: OwnPasswordFieldProps) {
  return (
    <>
      <UserName value={viewer.value ? viewerName(viewer.value) : ''} />
      <TextField
        {...field}
        label={label}
        type="password"
        autoComplete="current-password"
        validate={required('Your password')}
      />
    </>
  );
}
