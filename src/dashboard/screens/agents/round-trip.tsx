import { Milliseconds } from '../../ui/text/numbers.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';

/** The duration and time of the last heartbeat that came back. */
export function RoundTrip({ roundTrip }: { roundTrip: { at: string; milliseconds: number } | null }) {
  if (!roundTrip) return <span class="muted">none known here</span>;
  return (
    <>
      <Milliseconds value={roundTrip.milliseconds} />
      <span class="muted">
        , <RelativeTime at={roundTrip.at} />
      </span>
    </>
  );
}
