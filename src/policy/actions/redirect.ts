// The action `redirect`: redirects to a URL that is computed from the URL of the request.

import type { ActionKind } from '../settings/action-kind.ts';
import { compileUrlChange } from '../settings/url-change.ts';

const HEADERS_MAX = 10;
const EMPTY = Buffer.alloc(0);

export const redirectAction: ActionKind = {
  type: 'redirect',
  phases: ['on_http_request'],
  members: ['from', 'to', 'status_code', 'headers'],
  result: 'redirect',
  compile(config) {
    const change = compileUrlChange(config);
    const status = config.integer('status_code', { min: 300, max: 399, default: 302 });
    const headers = config.headers('headers', { min: 0, max: HEADERS_MAX });
    return {
      isTerminal: false,
      servedBy: 'self',
      readsPath: config.has('from'),
      run({ exchange, bindings, result }) {
        if (!exchange) return undefined;
        const changed = change(exchange, bindings);
        if (typeof changed === 'string') return { kind: 'refuse', error: 'policyFailed', reason: changed };
        const { matches, url } = changed;
        result('redirect', { matches, url: url ?? '' });
        if (url === undefined) return undefined;
        const fields = headers.map(({ name, value }) => [name, value.evaluate(bindings)] as const);
        // The URL parser encodes line breaks, so that the value cannot end the header line (response splitting).
        return { kind: 'answer', status, fields: [['location', new URL(url).href], ...fields], body: EMPTY };
      },
    };
  },
};
