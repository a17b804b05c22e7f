// A form: validates its fields before it is submitted, shows errors of the API at the fields that they name, and lets
// nothing be lost: neither what was typed nor what somebody else changed meanwhile.

import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiFailure } from '../../data/client/client.ts';
import { Button } from '../button.tsx';
import { ErrorNote } from '../feedback/error-note.tsx';
import { askBeforeLeaving, useUnsavedWork } from '../unsaved/unsaved-work.ts';
import { Context, type FieldEntry, problemsAt } from './form-context.ts';
import { FormNotices } from './form-notices.tsx';
import type { FormState } from './use-form-fields.ts';

export { useFieldError } from './form-context.ts';

export interface FormProps {
  children: ComponentChildren;
  /** The label of the submit button: `Create the credential`. */
  submitLabel: string;
  /** Called when all fields are valid. */
  onSubmit: () => void;
  /** The error of the last submission, shown at the fields that it names. */
  error?: ApiFailure;
  isBusy?: boolean;
  onCancel?: () => void;
  /** The result of `useFormFields`: leaving asks first, and changes of somebody else are shown. */
  fields?: FormState;
}

const NOTHING_TO_LOSE: FormState = {
  isChanged: false,
  isRestored: false,
  conflicts: [],
  taken: [],
  words: {},
  decide: () => {},
  discard: () => {},
  refresh: async () => {},
};

export function Form({
  children,
  submitLabel,
  onSubmit,
  error,
  isBusy,
  onCancel,
  fields = NOTHING_TO_LOSE,
}: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [entries] = useState(() => new Map<string, FieldEntry>());
  const [failedAttempts, setAttempts] = useState(0);
  const [isRefreshing, setRefreshing] = useState(false);
  const [submissions, setSubmissions] = useState(0);
  const context = useMemo(
    () => ({
      error,
      failedAttempts,
      register: (name: string, entry: FieldEntry) => {
        entries.set(name, entry);
        return () => entries.get(name) === entry && entries.delete(name);
      },
    }),
    [error, failedAttempts, entries],
  );
  const shownAtFields = new Set(error && [...entries.keys()].flatMap((name) => problemsAt(error, name)));
  const elsewhere = error?.problems.filter((problem) => !shownAtFields.has(problem)) ?? [];
  useUnsavedWork(fields.isChanged, { kind: 'changes', element: () => form.current, discard: fields.discard });

  useEffect(() => {
    if (failedAttempts > 0 || error) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [failedAttempts, error]);

  async function submit(event: Event) {
    event.preventDefault();
    if (isBusy || isRefreshing) return;
    if ([...entries.values()].some(({ validate }) => validate() !== null)) {
      setAttempts((count) => count + 1);
      return;
    }
    setRefreshing(true);
    await fields.refresh();
    setRefreshing(false);
    setSubmissions((count) => count + 1);
  }

  // It runs after the values of the object that were just loaded have been rendered.
  useEffect(() => {
    if (submissions === 0) return;
    if (fields.conflicts.length > 0) form.current?.querySelector<HTMLElement>('.conflicts button')?.focus();
    else onSubmit();
  }, [submissions]);

  return (
    <Context.Provider value={context}>
      <form ref={form} class="form" noValidate onSubmit={submit}>
        {children}
        <FormNotices fields={fields} entries={entries} />
        {shownAtFields.size === 0 && <ErrorNote error={error} />}
        {shownAtFields.size > 0 &&
          elsewhere.map(({ message }) => <ErrorNote key={message} error={new ApiFailure(message, error)} />)}
        <div class="form-footer">
          <Button type="submit" variant="primary" isBusy={isBusy || isRefreshing}>
            {submitLabel}
          </Button>
          {onCancel && <Button onClick={() => askBeforeLeaving(onCancel, form.current)}>Cancel</Button>}
        </div>
      </form>
    </Context.Provider>
  );
}
