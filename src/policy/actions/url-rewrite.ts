// The action `url-rewrite`: changes the URL that the upstream gets.

import type { ActionKind } from '../settings/action-kind.ts';
import { compileUrlChange } from '../settings/url-change.ts';

/** The authority of a URL, and the target without the fragment. */
const PARTS = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)([^#]*)/i;

export const urlRewriteAction: ActionKind = {
  type: 'url-rewrite',
  phases: ['on_http_request'],
  members: ['from', 'to'],
  result: 'url_rewrite',
  compile(config) {
    const change = compileUrlChange(config);
    return {
      isTerminal: false,
      readsPath: config.has('from'),
      run({ exchange, bindings, result }) {
        if (!exchange) return undefined;
        const changed = change(exchange, bindings);
        if (typeof changed === 'string') return { kind: 'refuse', error: 'policyFailed', reason: changed };
        const { matches, url } = changed;
        result('url_rewrite', { matches, url: url ?? '' });
        const [, host = '', rest = ''] = PARTS.exec(url ?? '') ?? [];
        if (host === '') return undefined;
        const { request } = exchange;
        if (host !== request.host) request.host = host;
        request.target = encodeTarget(rest.startsWith('/') ? rest : `/${rest}`);
        return undefined;
      },
    };
  },
};

/** Percent-encodes the characters that a request target must not contain. */
function encodeTarget(target: string): string {
  return target.replace(/[^\x21-\x7e]/gu, (char) => encodeURIComponent(char.toWellFormed()));
}
