import { now } from '../../../data/clock.ts';
import type { CertificateRowFragment } from '../../../generated/operations.ts';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';

/** Who renews a certificate, and when. */
export function renewalOf({ issuedAt, renewsAt }: Pick<CertificateRowFragment, 'issuedAt' | 'renewsAt'>) {
  if (renewsAt !== null) {
    return <span>by itself {Date.parse(renewsAt) > now.value ? <RelativeTime at={renewsAt} /> : 'now'}</span>;
  }
  return <span class="muted">{issuedAt === null ? 'by you' : 'no longer'}</span>;
}
