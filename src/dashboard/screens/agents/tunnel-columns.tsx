import { objectPath } from '../../data/routing/paths.ts';
import type { AgentTunnelRowFragment } from '../../generated/operations.ts';
import { Tag } from '../../ui/feedback/tag.tsx';
import type { Column } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';

export const tunnelColumns: Column<AgentTunnelRowFragment>[] = [
  { key: 'name', title: 'Address or labels', width: '3fr', cell: (row) => tunnelName(row) },
  { key: 'proto', title: 'Protocol', width: '5rem', cell: (row) => <Tag>{row.proto?.toLowerCase() ?? 'labels'}</Tag> },
  { key: 'to', title: 'Forwards to', width: '2fr', cell: (row) => row.forwardsTo },
  {
    key: 'since',
    title: 'Open',
    width: '7rem',
    priority: 2,
    cell: (row) => <RelativeTime at={row.startedAt} as="since" />,
  },
];

/** The display name of a tunnel: its URL or its labels. */
export function tunnelName({ publicUrl, labels }: Pick<AgentTunnelRowFragment, 'publicUrl' | 'labels'>): string {
  if (publicUrl !== null) return publicUrl;
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}

/** The page of a tunnel: that of its endpoint, if it has one. */
export function tunnelPath({ id, endpoint }: AgentTunnelRowFragment): string {
  return endpoint ? objectPath('endpoint', endpoint.id) : objectPath('tunnel', id);
}
