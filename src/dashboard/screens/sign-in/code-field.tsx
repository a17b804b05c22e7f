// The code of a second factor, for which the API asks when the user has one.

import type { ApiFailure } from '../../data/client/client.ts';
import { TextField, type TextFieldProps } from '../../ui/forms/text-field.tsx';
import { required } from '../../ui/forms/validators.ts';

/** Whether the API wants a code, or another one. */
export function isAboutCode(error: ApiFailure | undefined): boolean {
  return error?.field === 'code';
}

export function CodeField(field: Pick<TextFieldProps, 'name' | 'value' | 'onChange'>) {
  return (
    <TextField
      {...field}
      label="Code"
      autoComplete="one-time-code"
      isCode
      help="The six digits that your app shows, or a recovery code."
      validate={required('A code')}
    />
  );
}
