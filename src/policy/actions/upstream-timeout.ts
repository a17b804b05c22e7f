// The action `upstream-timeout`: how long the service may take until its answer to the request begins.

import type { ActionKind } from '../settings/action-kind.ts';

const LIMITS = { min: 1000, max: 3_600_000 };

export const upstreamTimeoutAction: ActionKind = {
  type: 'upstream-timeout',
  phases: ['on_http_request'],
  members: ['timeout'],
  compile(config) {
    const ms = config.duration('timeout', LIMITS);
    return {
      isTerminal: false,
      run({ exchange }) {
        if (exchange?.upstreamTerms) exchange.upstreamTerms.answerTimeout = { ms, setBy: 'its traffic policy' };
        return undefined;
      },
    };
  },
};
