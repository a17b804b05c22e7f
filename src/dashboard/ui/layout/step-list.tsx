// Steps one after the other. The first that is not done is the current one.

import type { ComponentChildren } from 'preact';
import './step-list.css';

export interface ListedStep {
  title: string;
  isDone: boolean;
  /** What to do, or what came of it. */
  help?: ComponentChildren;
}

interface StepsProps {
  steps: readonly ListedStep[];
  /** Whether the texts of steps that are done stay. */
  keepsHelp?: boolean;
}

export function StepList({ steps, keepsHelp = false }: StepsProps) {
  const next = steps.findIndex(({ isDone }) => !isDone);
  return (
    <ol class="step-list">
      {steps.map(({ title, isDone, help }, at) => (
        <li key={title} class={isDone ? 'done' : undefined} aria-current={at === next ? 'step' : undefined}>
          <span class="step-list-mark" aria-hidden="true">
            {isDone ? '✓' : at + 1}
          </span>
          <div>
            <h3>
              {title}
              {isDone && <span class="visually-hidden"> (done)</span>}
            </h3>
            {(keepsHelp || !isDone) && help && <div class="step-list-help">{help}</div>}
          </div>
        </li>
      ))}
    </ol>
  );
}
