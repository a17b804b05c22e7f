// What a form and its fields know of each other.

import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { ApiFailure, MemberProblem } from '../../data/client/client.ts';

/** A field as its form sees it. */
export interface FieldEntry {
  validate: () => string | null;
  /** The label; undefined for fields that do not tell it. */
  label: string | undefined;
  /** A value of the field in words. */
  describe: ((value: unknown) => string) | undefined;
}

interface FormContext {
  /** The latest error of the API. */
  error: ApiFailure | undefined;
  /** The number of submissions with invalid fields. After the first one all field errors are shown. */
  failedAttempts: number;
  register: (name: string, entry: FieldEntry) => () => void;
}

export const Context = createContext<FormContext | null>(null);

interface ControlWords {
  label?: string;
  describe?: (value: never) => string;
}

/** Registers a field with its form. @returns the error to show at the field, if any. */
export function useFieldError<Value>(
  name: string,
  value: Value,
  validate: ((value: Value) => string | null) | undefined,
  { label, describe }: ControlWords = {},
): { fieldError: string | null; onBlur: () => void } {
  const form = useContext(Context);
  const [wasBlurred, setBlurred] = useState(false);
  const [failedWith, setFailedWith] = useState<{ error: ApiFailure; value: Value }>();
  const latestCheck = useRef(() => validate?.(value) ?? null);
  latestCheck.current = () => validate?.(value) ?? null;
  const latestDescribe = useRef(describe);
  latestDescribe.current = describe;
  const register = form?.register;
  useEffect(
    () =>
      register?.(name, {
        validate: () => latestCheck.current(),
        label,
        describe: describe && ((shown) => latestDescribe.current?.(shown as never) ?? ''),
      }),
    [register, name, label],
  );

  const problems = form?.error ? problemsAt(form.error, name) : [];
  const error = problems.length > 0 ? form?.error : undefined;
  if (error && failedWith?.error !== error) setFailedWith({ error, value });
  const isUnchangedSinceFailure = error && failedWith?.error === error && failedWith.value === value;
  const localError = wasBlurred || (form?.failedAttempts ?? 0) > 0 ? latestCheck.current() : null;
  return {
    fieldError:
      localError ??
      (isUnchangedSinceFailure ? problems.map((problem) => inWordsOfTheForm(problem, label)).join(' ') : null),
    onBlur: () => setBlurred(true),
  };
}

/** What an error says of a field. The API names members by their path: `acl`, `target.webhook.url`, `acl[2]`. */
export function problemsAt({ problems }: Pick<ApiFailure, 'problems'>, name: string): readonly MemberProblem[] {
  return problems.filter(
    ({ member }) => member === name || member.startsWith(`${name}.`) || member.startsWith(`${name}[`),
  );
}

/** The message with the label of the field in place of the member's path, and `number 3` for `[2]`. */
export function inWordsOfTheForm({ message, member }: MemberProblem, label: string | undefined): string {
  if (!label) return message;
  const [place] = /\[\d+\]/.exec(member) ?? [];
  const words = place ? `“${label}”, number ${Number(place.slice(1, -1)) + 1}` : `“${label}”`;
  return [`input.${member}`, member].reduce((text, name) => replaceWord(text, name, words), message);
}

function replaceWord(text: string, word: string, words: string): string {
  if (word === '') return text;
  const literal = word.replace(/[.[\]]/g, '\\$&');
  return text.replace(new RegExp(`(?<![\\w.[])${literal}(?![\\w[])`), () => words);
}
