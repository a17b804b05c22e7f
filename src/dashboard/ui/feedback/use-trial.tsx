import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Operation } from '../../data/client/operation.ts';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { Button } from '../button.tsx';
import { ErrorNote } from './error-note.tsx';

export interface Trial {
  button: ComponentChildren;
  /** The outcome of the latest trial. */
  outcome: ComponentChildren;
}

interface TrialOptions<Result, Outcome> {
  /** What is on the button. */
  label: string;
  pick: (result: Result) => Outcome | null | undefined;
  show: (outcome: Outcome) => ComponentChildren;
}

/** A button that tries whether something works, and what came of it. */
export function useTrial<Result, Variables, Outcome>(
  operation: Operation<Result, Variables>,
  variables: Variables,
  { label, pick, show }: TrialOptions<Result, Outcome>,
): Trial {
  const [outcome, setOutcome] = useState<Outcome>();
  const trial = useMutation(operation);

  async function send() {
    setOutcome(undefined);
    const result = await trial.mutate(variables);
    const picked = result && pick(result);
    if (picked) setOutcome(picked);
  }

  return {
    button: (
      <Button onClick={() => void send()} isBusy={trial.isBusy}>
        {trial.isBusy ? 'Sending …' : label}
      </Button>
    ),
    outcome: (
      <div role="status" class="trial">
        <ErrorNote error={trial.error} />
        {outcome && show(outcome)}
      </div>
    ),
  };
}
