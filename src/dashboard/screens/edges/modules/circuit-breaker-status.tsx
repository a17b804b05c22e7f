// The current state of a route's circuit breaker, polled every second.

import { useQuery } from '../../../data/hooks/use-query.ts';
import type { CircuitBreakerQuery } from '../../../generated/operations.ts';
import { CircuitBreaker } from '../../../generated/operations.ts';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Tag } from '../../../ui/feedback/tag.tsx';
import { Section } from '../../../ui/layout/page.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { Count } from '../../../ui/text/numbers.tsx';
import type { ModulePanelProps } from './module-form.ts';

const POLL_MS = 1000;

type State = NonNullable<NonNullable<CircuitBreakerQuery['httpsEdgeRoute']>['circuitBreakerState']>;

const STATES = {
  CLOSED: { variant: 'good', word: 'closed', text: 'Requests go to the upstream.' },
  OPEN: { variant: 'bad', word: 'open', text: 'Requests are turned away with 503.' },
  PROBING: {
    variant: 'warn',
    word: 'probing',
    text: 'One request is being tried; the others are turned away with 503.',
  },
} as const;

export function CircuitBreakerStatus({ host, settings }: ModulePanelProps) {
  const skip = !settings?.enabled;
  const { data, error } = useQuery(
    CircuitBreaker,
    { edgeId: host.edgeId ?? '', id: host.id },
    { pollMs: POLL_MS, skip },
  );
  if (skip) return null;
  const state = data?.httpsEdgeRoute?.circuitBreakerState;
  return (
    <Section title="The circuit breaker right now" lead="As this node of the gateway counts, asked every second.">
      <ErrorNote error={error} />
      {state && <BreakerDetails state={state} threshold={Number(settings.errorThresholdPercentage)} />}
    </Section>
  );
}

function BreakerDetails({
  state: { state, requests, failures, retryIn },
  threshold,
}: {
  state: State;
  threshold: number;
}) {
  const { variant, word, text } = STATES[state];
  return (
    <DescriptionList
      items={[
        {
          name: 'The circuit is',
          value: (
            <span role="status">
              <Tag variant={variant}>{word}</Tag> {text}
            </span>
          ),
        },
        { name: 'Requests in the window', value: <Count value={requests} /> },
        {
          name: 'Of them failed',
          value: (
            <>
              <Count value={failures} /> <span class="muted">{percentage(failures, requests)}</span>
            </>
          ),
        },
        { name: 'It trips at', value: percentage(threshold, 1) },
        retryIn !== null && {
          name: 'It tries again',
          value: retryIn > 0 ? `in ${Math.ceil(retryIn)} s` : 'with the next request',
        },
      ]}
    />
  );
}

function percentage(part: number, whole: number): string {
  return whole === 0 ? '' : `${Math.round((part / whole) * 1000) / 10} %`;
}
