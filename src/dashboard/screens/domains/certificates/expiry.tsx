// When a certificate expires, with a warning.

import { now } from '../../../data/clock.ts';
import { Tag } from '../../../ui/feedback/tag.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';

const DAY_MS = 86_400_000;
/** Certificates that expire sooner get a warning. */
const WARNING_DAYS = 21;

export function Expiry({ at }: { at: string }) {
  const days = Math.floor((Date.parse(at) - now.value) / DAY_MS);
  return (
    <>
      <RelativeTime at={at} />{' '}
      {days < 0 ? <Tag variant="bad">expired</Tag> : days < WARNING_DAYS && <Tag variant="warn">soon</Tag>}
    </>
  );
}
