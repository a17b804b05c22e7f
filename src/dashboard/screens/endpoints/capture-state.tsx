import { useQuery } from '../../data/hooks/use-query.ts';
import { pathTo } from '../../data/routing/paths.ts';
import { EndpointCapture } from '../../generated/operations.ts';
import { RelativeTime } from '../../ui/text/relative-time.tsx';

const POLL_MS = 5000;

/** Whether the requests to an address are captured, on the page of its endpoint. @param id of that, live or offline. */
export function CaptureState({ id }: { id: string }) {
  const { data, error } = useQuery(EndpointCapture, { endpointId: id }, { pollMs: POLL_MS, kinds: ['trafficCapture'] });
  const capture = data?.trafficCapture;
  if (error) return <p class="muted">{error.message}</p>;
  if (!capture) return null;
  const { state, kept, endsAt } = capture;
  return (
    <p>
      {state === 'OFF' && 'Its requests aren’t captured'}
      {state === 'RECORDING' && 'Its requests are captured'}
      {state === 'WAITING' && 'Its requests are captured as soon as it is online'}
      {state !== 'OFF' && (
        <>
          {' · ends '}
          <RelativeTime at={endsAt} />
        </>
      )}
      {' · '}
      <a href={pathTo('traffic', id)}>
        {kept > 0 ? `Look at ${kept} of them` : state === 'OFF' ? 'Switch it on' : 'Look at them'}
      </a>
    </p>
  );
}
