// The user names and passwords of basic auth. Nobody can read a password once it is set.

import { useId } from 'preact/hooks';
import { useFieldError } from '../../../ui/forms/form.tsx';
import { RemoveButton } from '../../../ui/forms/list-field.tsx';
import type { FieldBinding } from '../../../ui/forms/use-form-fields.ts';
import { type ModuleField, moduleField, type Settings } from './field-kinds.tsx';

interface Credential {
  username: string;
  password: string;
  /** Has a password, which stays unless another is typed. */
  isKnown: boolean;
}

const MOST = 10;
const PASSWORD_MIN = 8;
const PASSWORD_MAX = 128;

export function credentials(name: string): ModuleField {
  return moduleField<readonly Credential[]>({
    name,
    read: (settings) => {
      const known = usernamesIn(settings, name);
      return known.length > 0 ? known.map((username) => ({ username, password: '', isKnown: true })) : [noCredential];
    },
    send: (all) =>
      all.map(({ username, password }) => ({ username, password: password === '' ? undefined : password })),
    draw: (bound) => <CredentialsField {...bound} />,
  });
}

const noCredential: Credential = { username: '', password: '', isKnown: false };

export function usernamesIn(settings: Settings | undefined, name: string): string[] {
  return ((settings?.[name] ?? []) as { username: string }[]).map(({ username }) => username);
}

function CredentialsField({ name, value, onChange }: FieldBinding<readonly Credential[]>) {
  const id = useId();
  const { fieldError: mistake, onBlur } = useFieldError(name, value, mistakeInAll);
  const change = (index: number, some: Partial<Credential>) =>
    onChange(value.map((credential, place) => (place === index ? { ...credential, ...some } : credential)));
  return (
    <fieldset class="field list" aria-describedby={mistake ? `${id}-help ${id}-error` : `${id}-help`}>
      <legend>Who is let in</legend>
      {value.map((credential, index) => (
        <div key={index} class="pair">
          <input
            type="text"
            class="code"
            value={credential.username}
            placeholder="user name"
            aria-label={`User name ${index + 1}`}
            aria-invalid={mistake && mistakeIn(credential) ? true : undefined}
            autoComplete="off"
            autoCapitalize="off"
            spellcheck={false}
            onBlur={onBlur}
            // Another name is another user, who does not have the password that was kept.
            onInput={(event) => change(index, { username: event.currentTarget.value, isKnown: false })}
          />
          <input
            type="password"
            class="code"
            value={credential.password}
            placeholder={credential.isKnown ? 'stays as it is' : 'password'}
            aria-label={`Password of user ${index + 1}`}
            aria-invalid={mistake && mistakeIn(credential) ? true : undefined}
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
        aria-disabled={value.length >= MOST}
        onClick={() => value.length < MOST && onChange([...value, noCredential])}
      >
        Add a user
      </button>
      <p class="help" id={`${id}-help`}>
        1 to {MOST}. A password has {PASSWORD_MIN} to {PASSWORD_MAX} characters; nobody can read it once it is set.
      </p>
      {mistake && (
        <p class="mistake" id={`${id}-error`} role="alert">
          {mistake}
        </p>
      )}
    </fieldset>
  );
}

function mistakeInAll(all: readonly Credential[]): string | null {
  if (all.length === 0) return 'At least one is needed.';
  const names = all.map(({ username }) => username);
  const twice = names.find((username, index) => names.indexOf(username) < index);
  return (
    all.reduce<string | null>((mistake, credential) => mistake ?? mistakeIn(credential), null) ??
    (twice ? `${twice} stands twice.` : null)
  );
}

function mistakeIn({ username, password, isKnown }: Credential): string | null {
  if (username === '') return 'A user name is needed.';
  if (username.includes(':')) return `${username}: a user name must not contain a colon.`;
  if (new TextEncoder().encode(username).length > 255) return `${username}: at most 255 bytes are kept.`;
  if (password === '' && isKnown) return null;
  if (password.length >= PASSWORD_MIN && password.length <= PASSWORD_MAX) return null;
  return `${username}: the password must have ${PASSWORD_MIN} to ${PASSWORD_MAX} characters.`;
}
