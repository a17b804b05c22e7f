// The action `allow-half-close`: a visitor who has sent his request and ended his side still gets the answer.

import type { ActionKind } from '../settings/action-kind.ts';

export const allowHalfCloseAction: ActionKind = {
  type: 'allow-half-close',
  phases: ['on_http_request'],
  members: [],
  compile: () => ({
    isTerminal: false,
    run({ exchange }) {
      if (exchange?.upstreamTerms) exchange.upstreamTerms.allowsHalfClose = true;
      return undefined;
    },
  }),
};
