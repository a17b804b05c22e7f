import type { ReadonlySignal } from '@preact/signals';
import type { EndpointProto } from '../../generated/operations.ts';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { Count, Rate } from '../../ui/text/numbers.tsx';
import type { Traffic } from './use-traffic.ts';

export interface TrafficDetailsProps {
  id: string;
  proto: EndpointProto;
  traffic: ReadonlySignal<Traffic>;
}

/** The current traffic of an endpoint. */
export function TrafficDetails({ id, proto, traffic }: TrafficDetailsProps) {
  const now = traffic.value.get(id);
  if (!now) return <p class="muted">This node of the gateway doesn’t serve it, or has no numbers yet.</p>;
  const isHttp = proto === 'HTTP' || proto === 'HTTPS';
  return (
    <DescriptionList
      items={[
        {
          name: isHttp ? 'Requests' : 'Connections',
          value: <Rate value={now.requestsPerSecond} unit={isHttp ? 'req' : 'conn'} />,
        },
        { name: 'From visitors', value: <Rate value={now.bytesInPerSecond} /> },
        { name: 'To visitors', value: <Rate value={now.bytesOutPerSecond} /> },
        { name: 'Under way', value: <Count value={now.openConnections} /> },
        { name: isHttp ? 'Requests in all' : 'Connections in all', value: <Count value={now.requests} /> },
      ]}
    />
  );
}
