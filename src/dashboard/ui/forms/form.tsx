// A form: checks its fields before it is sent, and shows what the gateway says about them afterwards.

import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ApiFailure } from '../../data/client/client.ts';
import { Button } from '../button.tsx';
import { ErrorNote } from '../feedback/error-note.tsx';

export interface FormProps {
  children: ComponentChildren;
  /** What the button says: `Create the credential`. */
  action: string;
  /** Called when every check of every field is content. */
  onSubmit: () => void;
  /** Why it failed last: shown at the field that it names. */
  error?: ApiFailure;
  isBusy?: boolean;
  onCancel?: () => void;
}

interface FormContext {
  /** The newest failure of the gateway. */
  error: ApiFailure | undefined;
  /** How often it was sent in vain: mistakes are shown from the first time on. */
  attempts: number;
  register: (name: string, check: () => string | null) => () => void;
}

const Context = createContext<FormContext | null>(null);

export function Form({ children, action, onSubmit, error, isBusy, onCancel }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [checks] = useState(() => new Map<string, () => string | null>());
  const [attempts, setAttempts] = useState(0);
  const context = useMemo(
    () => ({
      error,
      attempts,
      register: (name: string, check: () => string | null) => {
        checks.set(name, check);
        return () => checks.delete(name);
      },
    }),
    [error, attempts, checks],
  );
  const isShownAtField = error?.field !== undefined && [...checks.keys()].some((name) => isAbout(error, name));

  useEffect(() => {
    if (attempts > 0 || error) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [attempts, error]);

  function submit(event: Event) {
    event.preventDefault();
    if (isBusy) return;
    if ([...checks.values()].some((check) => check() !== null)) setAttempts((count) => count + 1);
    else onSubmit();
  }

  return (
    <Context.Provider value={context}>
      <form ref={form} class="form" noValidate onSubmit={submit}>
        {children}
        {!isShownAtField && <ErrorNote error={error} />}
        <div class="form-foot">
          <Button type="submit" look="primary" isBusy={isBusy}>
            {action}
          </Button>
          {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        </div>
      </form>
    </Context.Provider>
  );
}

/** What is wrong with a field, as far as it is to be shown; for the fields themselves. */
export function useMistake<Value>(
  name: string,
  value: Value,
  check: ((value: Value) => string | null) | undefined,
): { mistake: string | null; onBlur: () => void } {
  const form = useContext(Context);
  const [wasLeft, setLeft] = useState(false);
  const [failedWith, setFailedWith] = useState<{ error: ApiFailure; value: Value }>();
  const newest = useRef(() => check?.(value) ?? null);
  newest.current = () => check?.(value) ?? null;
  const register = form?.register;
  useEffect(() => register?.(name, () => newest.current()), [register, name]);

  const error = form?.error && isAbout(form.error, name) ? form.error : undefined;
  if (error && failedWith?.error !== error) setFailedWith({ error, value });
  const isStillThat = error && failedWith?.error === error && failedWith.value === value;
  const own = wasLeft || (form?.attempts ?? 0) > 0 ? newest.current() : null;
  return { mistake: own ?? (isStillThat ? error.message : null), onBlur: () => setLeft(true) };
}

/** The API names members by their path: `acl`, `target.webhook.url`, `acl[2]`. */
function isAbout({ field }: ApiFailure, name: string): boolean {
  const path = field?.replace(/^input\./, '');
  return path !== undefined && (path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`));
}
