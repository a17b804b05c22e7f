// The action `deny`: responds with a status and an empty body.

import type { ActionKind } from '../settings/action-kind.ts';
import { PROBLEM } from '../settings/problems.ts';

const EMPTY = Buffer.alloc(0);

export const denyAction: ActionKind = {
  type: 'deny',
  phases: ['on_tcp_connect', 'on_http_request'],
  members: ['status_code'],
  compile(config) {
    if (config.phase === 'on_tcp_connect') {
      if (config.has('status_code'))
        config.problem('status_code', PROBLEM.field, 'is for on_http_request only: here the connection is closed');
      return { isTerminal: true, run: () => ({ kind: 'close', reason: 'denied' }) };
    }
    const status = config.integer('status_code', { min: 200, max: 599, default: 403 });
    return { isTerminal: true, run: () => ({ kind: 'answer', status, fields: [], body: EMPTY, reason: 'denied' }) };
  },
};
