// The action `add-headers`: adds header fields to a request or a response.

import type { ActionKind } from '../settings/action-kind.ts';
import { HEADER_VALUE_MAX } from '../settings/headers.ts';
import { PROBLEM } from '../settings/problems.ts';

const HEADERS_MAX = 10;
/** A host name or an address, optionally with a port (RFC 9110, section 7.2). */
const HOST = /^[-.0-9A-Za-z[\]:]{1,255}$/;

export const addHeadersAction: ActionKind = {
  type: 'add-headers',
  phases: ['on_http_request', 'on_http_response'],
  members: ['headers'],
  result: 'add_headers',
  compile(config) {
    // Names are in lower case, as HTTP/2 requires (RFC 9113, section 8.2.1).
    const headers = config
      .headers('headers', { min: 1, max: HEADERS_MAX })
      .map(({ name, value }) => ({ name: name.toLowerCase(), value }));
    const isRequest = config.phase === 'on_http_request';
    const host = headers.find(({ name }) => name === 'host')?.value.constant;
    if (isRequest && host !== undefined && !HOST.test(host))
      config.problem('headers.host', PROBLEM.headerValue, 'must be the name of a host, optionally with a port');
    return {
      isTerminal: false,
      run({ exchange, bindings, result }) {
        const message = isRequest ? exchange?.request : exchange?.response;
        if (!exchange || !message) return undefined;
        const added: [name: string, value: string][] = [];
        // All values are computed before any is added, so that expressions see the original message.
        for (const { name, value } of headers) {
          const text = value.constant ?? value.evaluate(bindings);
          if (value.constant === undefined && Buffer.byteLength(text) > HEADER_VALUE_MAX)
            return failed(`the value of ${name} has more than ${HEADER_VALUE_MAX} bytes`);
          if (isRequest && name === 'host' && !HOST.test(text))
            return failed('the value of host is not the name of a host');
          added.push([name, text]);
        }
        for (const [name, value] of added) {
          if (isRequest && name === 'host') exchange.request.host = value;
          else message.fields.add(name, value);
        }
        result('add_headers', { headers_added: Object.fromEntries(added) });
        return undefined;
      },
    };
  },
};

const failed = (reason: string) => ({ kind: 'refuse', error: 'policyFailed', reason }) as const;
