// The user names and passwords of basic auth. Stored passwords cannot be read.

import { useId } from 'preact/hooks';
import { useFieldError } from '../../../ui/forms/form-context.ts';
import { RemoveButton } from '../../../ui/forms/list-field.tsx';
import type { FieldBinding } from '../../../ui/forms/use-form-fields.ts';
import { type ModuleField, type ModuleSettings, moduleField } from './field-kinds.tsx';

interface Credential {
  username: string;
  password: string;
  /** The gateway has a password for this user, which stays unless another one is typed. */
  hasStoredPassword: boolean;
}

const LABEL = 'Who is let in';
const MAX_CREDENTIALS = 10;
const PASSWORD_MIN = 8;
const PASSWORD_MAX = 128;

export function credentialsField(name: string): ModuleField {
  return moduleField<readonly Credential[]>({
    name,
    initialValue: (settings) => {
      const known = usernamesIn(settings, name);
      return known.length > 0
        ? known.map((username) => ({ username, password: '', hasStoredPassword: true }))
        : [noCredential];
    },
    toInput: (values) =>
      values.map(({ username, password }) => ({ username, password: password === '' ? undefined : password })),
    holdsSecret: (values) => values.some(({ password }) => password !== ''),
    render: (bound) => <CredentialsField {...bound} />,
  });
}

const noCredential: Credential = { username: '', password: '', hasStoredPassword: false };

export function usernamesIn(settings: ModuleSettings | undefined, name: string): string[] {
  return ((settings?.[name] ?? []) as { username: string }[]).map(({ username }) => username);
}

function CredentialsField({ name, value, onChange }: FieldBinding<readonly Credential[]>) {
  const id = useId();
  const { fieldError, onBlur } = useFieldError(name, value, validateAll, { label: LABEL, describe: usernames });
  const change = (index: number, some: Partial<Credential>) =>
    onChange(value.map((credential, place) => (place === index ? { ...credential, ...some } : credential)));
  return (
    <fieldset class="field list" aria-describedby={fieldError ? `${id}-help ${id}-error` : `${id}-help`}>
      <legend>{LABEL}</legend>
      {value.map((credential, index) => (
        <div key={index} class="pair">
          <input
            type="text"
            class="code"
            value={credential.username}
            placeholder="user name"
            aria-label={`User name ${index + 1}`}
            aria-invalid={fieldError && validateOne(credential) ? true : undefined}
            autoComplete="off"
            autoCapitalize="off"
            spellcheck={false}
            onBlur={onBlur}
            // Another name is another user, for whom the gateway has no password.
            onInput={(event) => change(index, { username: event.currentTarget.value, hasStoredPassword: false })}
          />
          <input
            type="password"
            class="code"
            value={credential.password}
            placeholder={credential.hasStoredPassword ? 'stays as it is' : 'password'}
            aria-label={`Password of user ${index + 1}`}
            aria-invalid={fieldError && validateOne(credential) ? true : undefined}
            autoComplete="new-password"
            onBlur={onBlur}
            onInput={(event) => change(index, { password: event.currentTarget.value })}
          />
          <RemoveButton label={`Remove user ${index + 1}`} onClick={() => onChange(value.toSpliced(index, 1))} />
        </div>
      ))}
      <button
        type="button"
        class="button"
        aria-disabled={value.length >= MAX_CREDENTIALS}
        onClick={() => value.length < MAX_CREDENTIALS && onChange([...value, noCredential])}
      >
        Add a user
      </button>
      <p class="help" id={`${id}-help`}>
        1 to {MAX_CREDENTIALS}. A password has {PASSWORD_MIN} to {PASSWORD_MAX} characters; nobody can read it once it
        is set.
      </p>
      {fieldError && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {fieldError}
        </p>
      )}
    </fieldset>
  );
}

/** Passwords are not shown, neither one’s own nor others’. */
function usernames(values: readonly Credential[]): string {
  return values.map(({ username }) => username).join('\n');
}

function validateAll(values: readonly Credential[]): string | null {
  if (values.length === 0) return 'At least one is needed.';
  const names = values.map(({ username }) => username);
  const twice = names.find((username, index) => names.indexOf(username) < index);
  return (
    values.reduce<string | null>((fieldError, credential) => fieldError ?? validateOne(credential), null) ??
    (twice ? `${twice} stands twice.` : null)
  );
}

function validateOne({ username, password, hasStoredPassword }: Credential): string | null {
  if (username === '') return 'A user name is needed.';
  if (username.includes(':')) return `${username}: a user name must not contain a colon.`;
  if (new TextEncoder().encode(username).length > 255) return `${username}: at most 255 bytes are kept.`;
  if (password === '' && hasStoredPassword) return null;
  if (password.length >= PASSWORD_MIN && password.length <= PASSWORD_MAX) return null;
  return `${username}: the password must have ${PASSWORD_MIN} to ${PASSWORD_MAX} characters.`;
}
