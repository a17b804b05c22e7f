import type { AlertRowFragment } from '../../../generated/operations.ts';
import { Tag } from '../../../ui/feedback/tag.tsx';
import { severityTitles } from '../conditions.ts';

const STATES = { FIRING: 'firing', ACKNOWLEDGED: 'acknowledged', RESOLVED: 'resolved' } as const;

/** The state of an alert, and how urgent it is while it is not resolved. */
export function AlertState({ state, severity }: Pick<AlertRowFragment, 'state' | 'severity'>) {
  if (state === 'RESOLVED') return <Tag variant="good">{STATES[state]}</Tag>;
  const variant = state === 'ACKNOWLEDGED' ? 'plain' : severity === 'CRITICAL' ? 'bad' : 'warn';
  return (
    <Tag variant={variant}>
      {STATES[state]}, {severityTitles[severity]}
    </Tag>
  );
}
