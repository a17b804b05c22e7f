// Chooses the range of time of the charts of a page.

import { useState } from 'preact/hooks';
import { now } from '../../data/clock.ts';
import { boundsOf, RECENT_RANGES, type RecentRange, type TimeRange } from '../../data/routing/time-range.ts';
import { Button } from '../button.tsx';
import { timeText, timeZoneText } from './times.ts';

export interface RangePickerProps {
  range: TimeRange;
  onChange: (range: TimeRange) => void;
}

export function RangePicker({ range, onChange }: RangePickerProps) {
  const [isChoosing, setChoosing] = useState(false);
  const isOwn = !('recent' in range);
  return (
    <div class="range-picker">
      <label>
        <span class="visually-hidden">Time range</span>
        <select
          value={isOwn || isChoosing ? 'own' : range.recent}
          onChange={({ currentTarget: { value } }) => {
            setChoosing(value === 'own');
            if (value !== 'own') onChange({ recent: value as RecentRange });
          }}
        >
          {Object.entries(RECENT_RANGES).map(([key, { title }]) => (
            <option key={key} value={key}>
              {title}
            </option>
          ))}
          <option value="own">{isOwn && !isChoosing ? ownTitle(range) : 'From … to …'}</option>
        </select>
      </label>
      <small class="muted">{timeZoneText()}</small>
      {isOwn && !isChoosing && <Button onClick={() => setChoosing(true)}>Change</Button>}
      {isChoosing && (
        <OwnRange
          range={range}
          onChange={(next) => {
            setChoosing(false);
            onChange(next);
          }}
        />
      )}
    </div>
  );
}

function OwnRange({ range, onChange }: RangePickerProps) {
  const [bounds] = useState(() => boundsOf(range, now.peek()));
  const [from, setFrom] = useState(inputValue(bounds.from));
  const [to, setTo] = useState(inputValue(bounds.to));
  const next = { from: Date.parse(from), to: Date.parse(to) };
  const isValid = next.from < next.to;
  return (
    <form
      class="range-own"
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) onChange(next);
      }}
    >
      <label>
        From <input type="datetime-local" value={from} onInput={(event) => setFrom(event.currentTarget.value)} />
      </label>
      <label>
        to <input type="datetime-local" value={to} onInput={(event) => setTo(event.currentTarget.value)} />
      </label>
      <Button type="submit">Show</Button>
      {!isValid && (
        <p class="field-error" role="alert">
          The end has to be after the beginning.
        </p>
      )}
    </form>
  );
}

function ownTitle({ from, to }: { from: number; to: number }): string {
  return `${timeText(from / 1000)} to ${timeText(to / 1000)}`;
}

/** A point of time as the input takes it: local, in minutes. */
function inputValue(milliseconds: number): string {
  const offset = new Date(milliseconds).getTimezoneOffset() * 60_000;
  return new Date(milliseconds - offset).toISOString().slice(0, 16);
}
