// The live state of the delivery to a destination.

import { useState } from 'preact/hooks';
import { useSubscription } from '../../../data/hooks/use-subscription.ts';
import { EventDeliveryChanged, type EventDeliveryFactsFragment } from '../../../generated/operations.ts';
import { Note } from '../../../ui/feedback/note.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { Bytes, Count } from '../../../ui/text/numbers.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { DeliveryState } from './delivery-state.tsx';

/** The delivery state: the initial one, and then updates from a subscription. */
export function useDelivery(
  destinationId: string,
  initial: EventDeliveryFactsFragment | undefined,
): EventDeliveryFactsFragment | undefined {
  const [update, setUpdate] = useState<{ id: string; delivery: EventDeliveryFactsFragment }>();
  useSubscription(EventDeliveryChanged, { destinationId }, ({ eventDeliveryChanged }) =>
    setUpdate({ id: destinationId, delivery: eventDeliveryChanged }),
  );
  return update?.id === destinationId ? update.delivery : initial;
}

export function DeliveryDetails({ delivery }: { delivery: EventDeliveryFactsFragment }) {
  const { state, attempts, lastError, nextAttemptAt } = delivery;
  return (
    <>
      {state !== 'OK' && lastError && (
        <Note variant="warn">
          <div>
            <p>
              <strong>{lastError.code}</strong>: {lastError.message}
            </p>
            <p>
              {state === 'FAILING'
                ? 'It fails until somebody changes the destination or its target. It is still tried now and then'
                : 'That may pass: it is tried again'}
              {nextAttemptAt && (
                <>
                  , next <RelativeTime at={nextAttemptAt} />
                </>
              )}
              . {attempts > 1 && `It has failed ${attempts.toLocaleString('en')} times since it last worked.`}
            </p>
          </div>
        </Note>
      )}
      <DescriptionList
        items={[
          { name: 'State', value: <DeliveryState delivery={delivery} /> },
          { name: 'Last delivered', value: <RelativeTime at={delivery.lastDeliveredAt} /> },
          { name: 'Delivered', value: <Count value={delivery.deliveredEvents} /> },
          { name: 'Waiting', value: waiting(delivery) },
          {
            name: 'Last error',
            value: lastError ? (
              <>
                <RelativeTime at={lastError.at} />: {lastError.code}, {lastError.message}
              </>
            ) : (
              <span class="muted">none</span>
            ),
          },
          { name: 'Dead letters', value: <Count value={delivery.deadLetters} /> },
          { name: 'Given up, and lost', value: <Count value={delivery.droppedEvents} /> },
        ]}
      />
    </>
  );
}

function waiting({ waitingEvents, waitingBytes, oldestWaitingAt }: EventDeliveryFactsFragment) {
  if (waitingEvents === 0) return <span class="muted">none</span>;
  return (
    <>
      <Count value={waitingEvents} />, <Bytes value={waitingBytes} />, the oldest for{' '}
      <RelativeTime at={oldestWaitingAt} as="since" />
    </>
  );
}
