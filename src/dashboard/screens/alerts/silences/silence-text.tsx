// What people read of a silence.

import { now } from '../../../data/clock.ts';
import type { AlertSilenceRowFragment } from '../../../generated/operations.ts';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { selectorText } from '../conditions.ts';

/** What is silenced, in one line. */
export function silenceText({ rule, selector }: Pick<AlertSilenceRowFragment, 'rule' | 'selector'>): string {
  const selected = selectorText(selector);
  if (!rule) return selected;
  return selected === 'all' ? rule.name : `${selected}, for ${rule.name}`;
}

export function SilenceEnd({ until }: { until: string }) {
  const isOver = Date.parse(until) <= now.value;
  return (
    <span class={isOver ? 'muted' : undefined}>
      {isOver && 'ended '}
      <RelativeTime at={until} />
    </span>
  );
}
