import type { EventDeliveryState } from '../../../generated/operations.ts';
import { Tag } from '../../../ui/feedback/tag.tsx';

interface Delivery {
  state: EventDeliveryState;
  lastDeliveredAt?: string | null;
  waitingEvents: number;
  deadLetters: number;
}

/** The delivery state as a tag. */
export function DeliveryState({ delivery }: { delivery: Delivery }) {
  const { state, lastDeliveredAt, waitingEvents, deadLetters } = delivery;
  if (state === 'FAILING') return <Tag variant="bad">failing</Tag>;
  if (state === 'RETRYING') return <Tag variant="warn">retrying</Tag>;
  if (lastDeliveredAt) return <Tag variant="good">delivers</Tag>;
  if (deadLetters > 0) return <Tag variant="warn">refused so far</Tag>;
  return <Tag>{waitingEvents > 0 ? 'first events on their way' : 'nothing sent yet'}</Tag>;
}
