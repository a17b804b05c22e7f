import { Milliseconds } from '../../ui/text/numbers.tsx';
import { When } from '../../ui/text/relative-time.tsx';

/** The last heartbeat that came back: how long it took, and when that was. */
export function RoundTrip({ roundTrip }: { roundTrip: { at: string; milliseconds: number } | null }) {
  if (!roundTrip) return <span class="quiet">none known here</span>;
  return (
    <>
      <Milliseconds value={roundTrip.milliseconds} />
      <span class="quiet">
        , <When at={roundTrip.at} />
      </span>
    </>
  );
}
