// Cells that read a signal, so that new numbers do not render the whole row.

import type { ReadonlySignal } from '@preact/signals';
import { Rate } from '../../ui/text/numbers.tsx';
import type { Traffic } from './use-traffic.ts';

interface CellProps {
  id: string;
  traffic: ReadonlySignal<Traffic>;
}

export function RequestRateCell({ id, traffic }: CellProps) {
  const now = traffic.value.get(id);
  return now ? <Rate value={now.requestsPerSecond} unit="req" /> : <span class="muted">–</span>;
}

/** The rate of both directions together. */
export function ByteRateCell({ id, traffic }: CellProps) {
  const now = traffic.value.get(id);
  return now ? <Rate value={now.bytesInPerSecond + now.bytesOutPerSecond} /> : <span class="muted">–</span>;
}
