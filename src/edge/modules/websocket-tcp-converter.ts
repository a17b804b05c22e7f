// Ends WebSockets at the edge, and sends the bytes of their messages to the upstream as a TCP connection.

import type { ModuleDescriptor } from './descriptor.ts';

export const websocketTcpConverter: ModuleDescriptor = {
  key: 'websocketTcpConverter',
  phase: 'upstream',
  create: () => ({ convertsWebsockets: true }),
  bindOption: { names: ['WebsocketTCPConverter'], scope: 'http', read: () => ({ enabled: true }) },
};
