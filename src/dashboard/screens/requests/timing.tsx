import { Milliseconds } from '../../ui/text/numbers.tsx';
import { type Timing, timingParts } from './timing-parts.ts';

/** The parts of the time that a request took, as bars with their numbers. */
export function TimingBars({ timing }: { timing: Timing }) {
  const whole = Math.max(timing.durationMilliseconds, 0.001);
  return (
    <ol class="timing">
      {timingParts(timing).map(({ name, from, to }) => (
        <li key={name}>
          <span>{name}</span>
          <span class="timing-track" aria-hidden="true">
            <span style={{ marginInlineStart: `${(from / whole) * 100}%`, width: `${((to - from) / whole) * 100}%` }} />
          </span>
          <Milliseconds value={to - from} />
        </li>
      ))}
    </ol>
  );
}
