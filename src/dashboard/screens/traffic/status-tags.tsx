import type { CapturedRowFragment } from '../../generated/operations.ts';
import { Tag } from '../../ui/feedback/tag.tsx';

/** The status of an answer. */
export function StatusTag({ status }: { status: number | null }) {
  if (status === null) return <Tag variant="bad">no answer</Tag>;
  const variant = status >= 500 ? 'bad' : status >= 400 ? 'warn' : status >= 300 ? 'plain' : 'good';
  return <Tag variant={variant}>{status}</Tag>;
}

/** What is to be known of a request besides its status: why it was refused, that it was cut, that it is a replay. */
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
