import type { CapturedRowFragment } from '../../generated/operations.ts';
import { Tag } from '../../ui/feedback/tag.tsx';

/** Remarks on a request: whether it was refused, cut off or a replay. */
export function Remarks({ row }: { row: Pick<CapturedRowFragment, 'refusal' | 'isComplete' | 'replayOf' | 'status'> }) {
  const { refusal, isComplete, replayOf, status } = row;
  return (
    <>
      {replayOf !== null && <Tag>replay</Tag>} {!isComplete && status !== null && <Tag variant="warn">cut off</Tag>}{' '}
      {refusal && (
        <span title={refusal.reason}>
          {refusal.module}: {refusal.reason}
        </span>
      )}
    </>
  );
}
