// A form: validates its fields before it is submitted, and shows errors of the API at the fields that they name.

import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ApiFailure } from '../../data/client/client.ts';
import { Button } from '../button.tsx';
import { ErrorNote } from '../feedback/error-note.tsx';

export interface FormProps {
  children: ComponentChildren;
  /** The label of the submit button: `Create the credential`. */
  submitLabel: string;
  /** Called when all fields are valid. */
  onSubmit: () => void;
  /** The error of the last submission, shown at the field that it names. */
  error?: ApiFailure;
  isBusy?: boolean;
  onCancel?: () => void;
}

interface FormContext {
  /** The latest error of the API. */
  error: ApiFailure | undefined;
  /** The number of submissions with invalid fields. After the first one all field errors are shown. */
  failedAttempts: number;
  register: (name: string, validate: () => string | null) => () => void;
}

const Context = createContext<FormContext | null>(null);

export function Form({ children, submitLabel, onSubmit, error, isBusy, onCancel }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [validators] = useState(() => new Map<string, () => string | null>());
  const [failedAttempts, setAttempts] = useState(0);
  const context = useMemo(
    () => ({
      error,
      failedAttempts,
      register: (name: string, validate: () => string | null) => {
        validators.set(name, validate);
        return () => validators.delete(name);
      },
    }),
    [error, failedAttempts, validators],
  );
  const isShownAtField = error?.field !== undefined && [...validators.keys()].some((name) => isErrorOf(error, name));

  useEffect(() => {
    if (failedAttempts > 0 || error) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [failedAttempts, error]);

  function submit(event: Event) {
    event.preventDefault();
    if (isBusy) return;
    if ([...validators.values()].some((validate) => validate() !== null)) setAttempts((count) => count + 1);
    else onSubmit();
  }

  return (
    <Context.Provider value={context}>
      <form ref={form} class="form" noValidate onSubmit={submit}>
        {children}
        {!isShownAtField && <ErrorNote error={error} />}
        <div class="form-footer">
          <Button type="submit" variant="primary" isBusy={isBusy}>
            {submitLabel}
          </Button>
          {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        </div>
      </form>
    </Context.Provider>
  );
}

/** Registers a field with its form. @returns the error to show at the field, if any. */
export function useFieldError<Value>(
  name: string,
  value: Value,
  validate: ((value: Value) => string | null) | undefined,
): { fieldError: string | null; onBlur: () => void } {
  const form = useContext(Context);
  const [wasBlurred, setBlurred] = useState(false);
  const [failedWith, setFailedWith] = useState<{ error: ApiFailure; value: Value }>();
  const latestCheck = useRef(() => validate?.(value) ?? null);
  latestCheck.current = () => validate?.(value) ?? null;
  const register = form?.register;
  useEffect(() => register?.(name, () => latestCheck.current()), [register, name]);

  const error = form?.error && isErrorOf(form.error, name) ? form.error : undefined;
  if (error && failedWith?.error !== error) setFailedWith({ error, value });
  const isUnchangedSinceFailure = error && failedWith?.error === error && failedWith.value === value;
  const localError = wasBlurred || (form?.failedAttempts ?? 0) > 0 ? latestCheck.current() : null;
  return { fieldError: localError ?? (isUnchangedSinceFailure ? error.message : null), onBlur: () => setBlurred(true) };
}

/** Whether an error is about a field. The API names members by their path: `acl`, `target.webhook.url`, `acl[2]`. */
function isErrorOf({ field }: ApiFailure, name: string): boolean {
  const path = field?.replace(/^input\./, '');
  return path !== undefined && (path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`));
}
