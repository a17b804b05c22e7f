// Where edges and owners are in REST.

import { isId } from './ids.ts';

const KINDS = { edghts: 'https', edgtls: 'tls', edgtcp: 'tcp' };

/** The REST path of the list that an edge is in, as `/edges/tls`. */
export function edgeListPath(id: string): string {
  const [, kind] = Object.entries(KINDS).find(([prefix]) => isId(prefix, id)) ?? [];
  return `/edges/${kind ?? 'https'}`;
}

/** The path of a user or a bot user, as `/bot_users/bot_…`. */
export function ownerPath(id: string): string {
  return `${id.startsWith('bot_') ? '/bot_users' : '/users'}/${id}`;
}
