// The action `remove-headers`: removes header fields from a request or a response.

import type { ActionKind } from '../settings/action-kind.ts';
import { headerNameProblem } from '../settings/headers.ts';
import { PROBLEM } from '../settings/problems.ts';

const HEADERS_MAX = 10;

export const removeHeadersAction: ActionKind = {
  type: 'remove-headers',
  phases: ['on_http_request', 'on_http_response'],
  members: ['headers'],
  result: 'remove_headers',
  compile(config) {
    const names = config.texts('headers', { min: 1, max: HEADERS_MAX }).map((name) => name.toLowerCase());
    names.forEach((name, i) => {
      const wrong =
        name === 'host'
          ? { number: PROBLEM.reserved, message: 'cannot be removed: every request has one' }
          : headerNameProblem(name);
      if (wrong) config.problem(`headers[${i}]`, wrong.number, wrong.message);
    });
    return {
      isTerminal: false,
      run({ phase, exchange, result }) {
        const message = phase === 'on_http_request' ? exchange?.request : exchange?.response;
        result('remove_headers', { headers_removed: names.filter((name) => message?.fields.remove(name)) });
        return undefined;
      },
    };
  },
};
