import { Tag } from './tag.tsx';

/** The status code of a response as a tag. */
export function StatusTag({ status }: { status: number | null }) {
  if (status === null) return <Tag variant="bad">no answer</Tag>;
  const variant = status >= 500 ? 'bad' : status >= 400 ? 'warn' : status >= 300 ? 'plain' : 'good';
  return <Tag variant={variant}>{status}</Tag>;
}
