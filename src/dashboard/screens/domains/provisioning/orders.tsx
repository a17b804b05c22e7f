// What was ordered of a certificate authority, the newest first.

import type { DomainQuery } from '../../../generated/operations.ts';
import { Tag } from '../../../ui/feedback/tag.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';

type Provisioning = NonNullable<NonNullable<DomainQuery['reservedDomain']>['certificateProvisioning']>;
type Order = Provisioning['orders'][number];

const OUTCOMES: Record<string, { variant: 'plain' | 'good' | 'bad'; word: string }> = {
  issued: { variant: 'good', word: 'issued' },
  failed: { variant: 'bad', word: 'failed' },
  abandoned: { variant: 'plain', word: 'given up' },
};
const UNDER_WAY = { variant: 'plain', word: 'under way' } as const;

export function Orders({ orders }: { orders: readonly Order[] }) {
  if (orders.length === 0) return null;
  return (
    <details class="orders">
      <summary>
        {orders.length === 1 ? 'One order' : `${orders.length} orders`} at the authority in the last 90 days
      </summary>
      <ol class="records">
        {orders.map((order) => (
          <OrderItem key={order.orderedAt} order={order} />
        ))}
      </ol>
    </details>
  );
}

function OrderItem({ order: { orderedAt, outcome, errorCode, message } }: { order: Order }) {
  const { variant, word } = outcome === null ? UNDER_WAY : (OUTCOMES[outcome] ?? { variant: 'plain', word: outcome });
  return (
    <li class="record">
      <div class="record-header">
        <Tag variant={variant}>{word}</Tag>
        <span>
          ordered <RelativeTime at={orderedAt} />
        </span>
        {errorCode && <code class="muted">{errorCode}</code>}
      </div>
      {message && <p>{message}</p>}
    </li>
  );
}
