import type { CapturedRowFragment } from '../../generated/operations.ts';
import { Tag } from '../../ui/feedback/tag.tsx';

/** The status code of a response as a tag. */
export function StatusTag({ status }: { status: number | null }) {
  if (status === null) return <Tag variant="bad">no answer</Tag>;
  const variant = status >= 500 ? 'bad' : status >= 400 ? 'warn' : status >= 300 ? 'plain' : 'good';
  return <Tag variant={variant}>{status}</Tag>;
}

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
