// What would be lost if the page, or a dialog in it, were left now: changes in forms, and secrets that nobody has copied.

import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface UnsavedWork {
  kind: 'changes' | 'secret';
  /** What it is within a sentence: `the API key`. Changes have no name. */
  name?: string;
  /** Where it is on the page: closing a dialog loses only what is inside it. */
  element: () => Element | null;
  /** Forgets it. The user has agreed. */
  discard: () => void;
}

export interface LeaveQuestion {
  works: readonly UnsavedWork[];
  /** Leaves. */
  proceed: () => void;
}

/** The question that the user has to answer before leaving; null if there is none. */
export const leaveQuestion = signal<LeaveQuestion | null>(null);

const works = new Map<UnsavedWork, { path: string }>();

/** The path of the page that has unsaved work; undefined if nothing would be lost. */
export function pathOfUnsavedWork(): string | undefined {
  return works.values().next().value?.path;
}

/**
 * Calls `proceed` at once if nothing would be lost, and otherwise when the user has agreed.
 * @param within an element that is about to be removed; without it, the whole page is left.
 */
export function askBeforeLeaving(proceed: () => void, within?: Element | null): void {
  const lost = [...works.keys()].filter(({ element }) => !within || within.contains(element()));
  if (lost.length === 0) proceed();
  else leaveQuestion.value = { works: lost, proceed };
}

/** Answers the question. */
export function answerLeaveQuestion(isLeaving: boolean): void {
  const question = leaveQuestion.peek();
  leaveQuestion.value = null;
  if (!question || !isLeaving) return;
  for (const work of question.works) {
    works.delete(work);
    work.discard();
  }
  question.proceed();
}

/** Protects work from being lost while `isUnsaved`. */
export function useUnsavedWork(isUnsaved: boolean, work: UnsavedWork): void {
  const latest = useRef(work);
  latest.current = work;
  useLayoutEffect(() => {
    if (!isUnsaved) return;
    const { kind, name } = latest.current;
    const entry: UnsavedWork = {
      kind,
      name,
      element: () => latest.current.element(),
      discard: () => latest.current.discard(),
    };
    works.set(entry, { path: location.pathname + location.search });
    return () => {
      works.delete(entry);
    };
  }, [isUnsaved]);
}
