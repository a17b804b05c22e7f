// `add-headers`: adds header fields to a request or an answer.

import type { ActionKind } from '../settings/action-kind.ts';
import { HEADER_VALUE_MAX } from '../settings/headers.ts';
import { PROBLEM } from '../settings/problems.ts';

const HEADERS_MAX = 10;
/** A name or an address, perhaps with a port (RFC 9110, section 7.2). */
const HOST = /^[-.0-9A-Za-z[\]:]{1,255}$/;

export const addHeadersAction: ActionKind = {
  type: 'add-headers',
  phases: ['on_http_request', 'on_http_response'],
  members: ['headers'],
  result: 'add_headers',
  compile(config) {
    // As HTTP/2 has them.
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
        // All are computed before any is added: an expression sees the message as it was.
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
