// Sends a test event to a destination.

import { TestEventDestination, type TestEventDestinationMutation } from '../../../generated/operations.ts';
import { Note } from '../../../ui/feedback/note.tsx';
import { type Trial, useTrial } from '../../../ui/feedback/use-trial.tsx';
import { Milliseconds } from '../../../ui/text/numbers.tsx';

type Outcome = NonNullable<TestEventDestinationMutation['testEventDestination']>['test'];

export function useTestEvent(id: string): Trial {
  return useTrial(
    TestEventDestination,
    { id },
    {
      label: 'Send a test event',
      pick: (result) => result.testEventDestination?.test,
      show: (outcome) => <Result outcome={outcome} />,
    },
  );
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
