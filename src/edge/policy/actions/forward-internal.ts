// `forward-internal`: sends visitors on to another endpoint of the same account, one without a public address.

import type { Proto } from '../../../tunnel/endpoint.ts';
import type { ActionKind, ConfigReader } from '../action.ts';
import { PROBLEM } from '../problems.ts';

const URL_MAX = 2048;

export const forwardInternal: ActionKind = {
  type: 'forward-internal',
  phases: ['on_tcp_connect', 'on_http_request'],
  members: ['url', 'on_error', 'binding'],
  result: 'forward_internal',
  compile(config) {
    const url = config.template('url', { max: URL_MAX });
    const isOfHttp = isHttp(config.owner.proto);
    if (url.constant) checkUrl(config, url.constant, isOfHttp);
    if (config.phase === 'on_tcp_connect' && isOfHttp)
      config.problem(
        '',
        PROBLEM.phase,
        'is for on_http_request here: the requests of a connection are forwarded one by one',
      );
    const goesOn = config.choice('on_error', ['halt', 'continue'], 'halt') === 'continue';
    config.choice('binding', ['internal'], 'internal'); // An older option, which had this value only.
    const { environment, owner } = config;
    return {
      isTerminal: !goesOn,
      run({ bindings, connection, result }) {
        const address = url.evaluate(bindings);
        const endpoint = environment.internal(owner.accountId, address);
        // Requests go where requests are understood, connections where they are.
        if (endpoint && isHttp(endpoint.proto) === isOfHttp) {
          result('forward_internal', { url: address });
          return { kind: 'forward', endpoint };
        }
        const message = `there is no internal endpoint ${address} online`;
        result('forward_internal', { url: address, error: { code: 'ERR_GATEWAY_90132', message } });
        if (goesOn) return undefined;
        if (connection) return { kind: 'close', reason: message };
        return { kind: 'refuse', error: 'internalOffline', reason: message };
      },
    };
  },
};

const isHttp = (proto: Proto) => proto === 'http' || proto === 'https';

function checkUrl(config: ConfigReader, text: string, isOfHttp: boolean): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isFitting = isOfHttp ? /^https?:$/.test(url?.protocol ?? '') : url?.protocol === 'tls:';
  if (isFitting && url?.hostname.endsWith('.internal')) return;
  const example = isOfHttp ? 'https://devices.internal' : 'tls://devices.internal';
  config.problem('url', PROBLEM.url, `must be the URL of an internal endpoint, as "${example}"`);
}
