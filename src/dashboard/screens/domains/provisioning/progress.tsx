// How far a certificate that the gateway obtains has come, and how long it lasts.

import { now } from '../../../data/clock.ts';
import type { ProvisioningDetailsFragment } from '../../../generated/operations.ts';
import { Note } from '../../../ui/feedback/note.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { Expiry } from '../certificates/expiry.tsx';
import { Steps } from './steps.tsx';

/** The step that it is at, what is wrong, and when it is tried again. */
export function Progress({ certificate }: { certificate: ProvisioningDetailsFragment }) {
  const { state, message, errorCode, notAfter } = certificate;
  const isBad = state === 'FAILED_RETRYING' || state === 'PAUSED';
  return (
    <>
      <Steps certificate={certificate} />
      {state !== 'ISSUED' && (
        <Note variant={isBad || state === 'WAITING_DNS' ? 'warn' : 'info'}>
          <p class="progress-message" role="status">
            {message}
          </p>
          <p class="progress-facts muted">
            {errorCode && <code>{errorCode}</code>}
            <NextTry certificate={certificate} />
            {notAfter !== null && Date.parse(notAfter) > now.value && (
              <span>
                Visitors see the current certificate for <RelativeTime at={notAfter} as="until" /> more.
              </span>
            )}
          </p>
        </Note>
      )}
    </>
  );
}

function NextTry({ certificate: { state, nextAt } }: { certificate: ProvisioningDetailsFragment }) {
  if (state === 'PAUSED') return <span>It is not tried again by itself.</span>;
  if (nextAt === null) return null;
  const verb = state === 'WAITING_DNS' ? 'Looked up again' : 'Tried again';
  return (
    <span>
      {verb}{' '}
      {Date.parse(nextAt) > now.value ? (
        <>
          in <RelativeTime at={nextAt} as="until" />
        </>
      ) : (
        'now'
      )}
    </span>
  );
}

/** The items of a `DescriptionList` on the certificate in force. */
export function inForceItems({ state, issuedAt, notAfter, renewsAt, attempts }: ProvisioningDetailsFragment) {
  return [
    issuedAt !== null && { name: 'Obtained', value: <RelativeTime at={issuedAt} /> },
    notAfter !== null && { name: 'Ends', value: <Expiry at={notAfter} /> },
    // A renewal that has begun is told by its steps.
    state === 'ISSUED' && renewsAt !== null && { name: 'Renewed', value: <RelativeTime at={renewsAt} /> },
    attempts > 0 && { name: 'Failed in a row', value: attempts },
  ];
}

/** A certificate without a page of its own. */
export function InForce({ certificate }: { certificate: ProvisioningDetailsFragment }) {
  const items = inForceItems(certificate).filter(Boolean);
  return items.length > 0 ? <DescriptionList items={items} /> : null;
}
