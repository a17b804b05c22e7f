// The action `close-connection`: closes the visitor's connection.

import type { ActionKind } from '../settings/action-kind.ts';

export const closeConnectionAction: ActionKind = {
  type: 'close-connection',
  phases: ['on_tcp_connect', 'on_http_request'],
  members: [],
  compile: () => ({ isTerminal: true, run: () => ({ kind: 'close', reason: 'closed' }) }),
};
