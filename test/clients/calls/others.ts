// What clients only read, tell something, or end.

import type { ClientName } from './clients.ts';
import { endpoint, ref } from './kinds.ts';

export interface ReadKind {
  path: string;
  list: string;
  /** Something of the world, by its name there. */
  one: string;
  shape: string;
  of?: ClientName[];
  /** Further queries of a list that each find that one. */
  queries?: string[];
  /** What sessions are told, by POST. */
  commands?: string[];
  /** Set for what clients end. */
  isDeleted?: boolean;
}

const userAgent = 'raw browser_name browser_version device_type os_name os_version';
const location = 'country_code? latitude#? longitude#? lat_long_radius_km#?';

export const readKinds: ReadKind[] = [
  {
    ...{ path: '/endpoints', list: 'endpoints', one: 'endpoint', shape: endpoint },
    queries: ['id=$endpoint', 'id=$endpoint&id=ep_other', 'url=https://app.clients.example.com'],
  },
  {
    ...{ path: '/tunnels', list: 'tunnels', one: 'tunnel' },
    shape: `id public_url started_at metadata proto region tunnel_session ${ref} endpoint? ${ref} labels% backends* ${ref} forwards_to`,
  },
  {
    ...{ path: '/tunnel_sessions', list: 'tunnel_sessions', one: 'session' },
    shape: `agent_version credential ${ref} id ip metadata os region started_at transport uri`,
    commands: ['stop', 'restart', 'update'],
  },
  {
    ...{ path: '/app/users', list: 'application_users', one: 'appUser', isDeleted: true },
    shape:
      'id uri identity_provider { name url } provider_user_id username email name created_at last_active last_login',
  },
  {
    ...{ path: '/app/sessions', list: 'application_sessions', one: 'appSession', isDeleted: true },
    shape:
      `id uri public_url browser_session { user_agent { ${userAgent} } ip_address location? { ${location} } } ` +
      `application_user? ${ref} created_at last_active expires_at endpoint? ${ref} edge? ${ref} route? ${ref}`,
  },
];
