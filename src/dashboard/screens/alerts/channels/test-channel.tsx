// Sends a test notification to a channel.

import { TestAlertChannel, type TestAlertChannelMutation } from '../../../generated/operations.ts';
import { Note } from '../../../ui/feedback/note.tsx';
import { type Trial, useTrial } from '../../../ui/feedback/use-trial.tsx';
import { Milliseconds } from '../../../ui/text/numbers.tsx';

type Outcome = NonNullable<TestAlertChannelMutation['testAlertChannel']>['test'];

export function useChannelTest(id: string): Trial {
  return useTrial(
    TestAlertChannel,
    { id },
    {
      label: 'Send a test',
      pick: (result) => result.testAlertChannel?.test,
      show: (outcome) => <Result outcome={outcome} />,
    },
  );
}

function Result({ outcome: { ok, latencyMs, errorCode, message } }: { outcome: Outcome }) {
  if (ok) {
    return (
      <Note variant={message ? 'warn' : 'good'}>
        <p>
          The test was taken, in <Milliseconds value={latencyMs} />
          {message ? `, but ${message}.` : '.'}
        </p>
      </Note>
    );
  }
  return (
    <Note variant="warn">
      <p>
        The test was not taken. <strong>{errorCode}</strong>: {message}.
      </p>
    </Note>
  );
}
