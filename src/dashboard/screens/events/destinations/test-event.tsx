// Sends a test event to a destination.

import { useState } from 'preact/hooks';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { TestEventDestination, type TestEventDestinationMutation } from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Note } from '../../../ui/feedback/note.tsx';
import { Milliseconds } from '../../../ui/text/numbers.tsx';

type Outcome = NonNullable<TestEventDestinationMutation['testEventDestination']>;

export interface TestEvent {
  button: preact.ComponentChildren;
  /** The result of the latest test event. */
  outcome: preact.ComponentChildren;
}

export function useTestEvent(id: string): TestEvent {
  const [outcome, setOutcome] = useState<Outcome>();
  const test = useMutation(TestEventDestination);

  async function send() {
    setOutcome(undefined);
    const result = await test.mutate({ id });
    if (result?.testEventDestination) setOutcome(result.testEventDestination);
  }

  return {
    button: (
      <Button onClick={() => void send()} isBusy={test.isBusy}>
        {test.isBusy ? 'Sending …' : 'Send a test event'}
      </Button>
    ),
    outcome: (
      <div role="status" class="trial">
        <ErrorNote error={test.error} />
        {outcome && <Result outcome={outcome} />}
      </div>
    ),
  };
}

function Result({ outcome: { ok, latencyMs, errorCode, errorMessage } }: { outcome: Outcome }) {
  if (ok) {
    return (
      <Note variant="good">
        <p>
          The target took the test event, in <Milliseconds value={latencyMs} />.
        </p>
      </Note>
    );
  }
  return (
    <Note variant="warn">
      <p>
        The target did not take the test event, after <Milliseconds value={latencyMs} />. <strong>{errorCode}</strong>:{' '}
        {errorMessage}
      </p>
    </Note>
  );
}
