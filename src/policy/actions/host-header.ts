// The action `host-header`: the service is asked by a name of its own, and its answers lead to the endpoint's.

import { readServiceHost, SERVICE_HOST_FORMS } from '../../http/host-rewrite.ts';
import type { ActionKind } from '../settings/action-kind.ts';
import { PROBLEM } from '../settings/problems.ts';

const HOST_MAX = 270;

export const hostHeaderAction: ActionKind = {
  type: 'host-header',
  phases: ['on_http_request'],
  members: ['host'],
  compile(config) {
    const text = config.text('host', { max: HOST_MAX });
    const host = readServiceHost(text);
    if (!host && text !== '') config.problem('host', PROBLEM.headerValue, SERVICE_HOST_FORMS);
    return {
      isTerminal: false,
      run({ exchange }) {
        if (exchange?.upstreamTerms && host) exchange.upstreamTerms.host = host;
        return undefined;
      },
    };
  },
};
