// The action `host-header`: the service is asked by a name of its own, and its answers lead to the endpoint's.

import { readServiceOrigin } from '../../http/host-rewrite.ts';
import type { ActionKind } from '../settings/action-kind.ts';
import { PROBLEM } from '../settings/problems.ts';

const HOST_MAX = 270;

export const hostHeaderAction: ActionKind = {
  type: 'host-header',
  phases: ['on_http_request'],
  members: ['host'],
  compile(config) {
    const text = config.text('host', { max: HOST_MAX });
    const origin = readServiceOrigin(text);
    if (!origin && text !== '')
      config.problem(
        'host',
        PROBLEM.headerValue,
        'must be a host, as localhost:3000, or an origin, as https://printer.lan',
      );
    return {
      isTerminal: false,
      run({ exchange }) {
        if (exchange?.upstreamTerms && origin) exchange.upstreamTerms.host = origin;
        return undefined;
      },
    };
  },
};
