// The WebSocket TCP converter module of a route.

import { websocketTcpConverter as descriptor } from '../../edge/modules/websocket-tcp-converter.ts';
import { toggle } from './toggle.ts';

export const websocketTcpConverter = toggle(descriptor, {
  noun: 'websocket TCP converter',
  type: 'WebsocketTcpConverter',
  description:
    'Ends WebSockets at the edge: the upstream gets the bytes of their messages as a TCP connection, and what it sends ' +
    'goes back in binary messages.',
});
