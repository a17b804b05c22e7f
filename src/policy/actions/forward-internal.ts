// The action `forward-internal`: forwards to an internal endpoint of the same account, which has no public address.

import { visitorErrors } from '../../http/visitor-errors.ts';
import type { LiveEndpoint, Proto } from '../../tunnel/endpoints/endpoint.ts';
import { parseInternalUrl } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { ActionKind, ActionVerdict, ConfigReader } from '../settings/action-kind.ts';
import { PROBLEM } from '../settings/problems.ts';

const URL_MAX = 2048;

export const forwardInternalAction: ActionKind = {
  type: 'forward-internal',
  phases: ['on_tcp_connect', 'on_http_request'],
  members: ['url', 'on_error', 'binding'],
  result: 'forward_internal',
  compile(config) {
    const url = config.template('url', { max: URL_MAX });
    const isHttpOwner = isHttp(config.owner.proto);
    if (url.constant) checkUrl(config, url.constant, isHttpOwner);
    if (config.phase === 'on_tcp_connect' && isHttpOwner)
      config.problem(
        '',
        PROBLEM.phase,
        'is for on_http_request on this endpoint: its requests are forwarded one by one',
      );
    const continuesOnError = config.choice('on_error', ['halt', 'continue'], 'halt') === 'continue';
    config.choice('binding', ['internal'], 'internal'); // An older option with only this value.
    const { environment, owner } = config;
    const { mayReach = () => true } = owner;
    const leadsTo = url.constant && parseInternalUrl(url.constant)?.hostname;
    if (leadsTo && !mayReach(leadsTo))
      config.problem(
        'url',
        PROBLEM.forwardDenied,
        `names ${leadsTo}, and the ACL of the credential has no rule "bind:${leadsTo}", nor another that allows it: add one, or forward to a name that is allowed`,
      );
    return {
      isTerminal: !continuesOnError,
      ...(leadsTo && { leadsTo }),
      servedBy: url.constant || 'self',
      run({ bindings, connection, result }) {
        const address = url.evaluate(bindings);
        const { hostname } = parseInternalUrl(address) ?? {};
        // The ACL is checked for each request: it may have changed, and a computed name may depend on the visitor.
        const isDenied = hostname !== undefined && !mayReach(hostname);
        const go = (endpoint: LiveEndpoint | undefined): ActionVerdict => {
          // HTTP requests can only go to an HTTP endpoint, connections only to a TCP or TLS endpoint.
          if (endpoint && isHttp(endpoint.proto) === isHttpOwner) {
            result('forward_internal', { url: address });
            return { kind: 'forward', endpoint };
          }
          const error = isDenied ? 'internalDenied' : 'internalOffline';
          const message = isDenied
            ? `the ACL of the credential has no rule that allows ${hostname}`
            : `there is no internal endpoint ${address} online`;
          const code = `ERR_GATEWAY_${visitorErrors[error].number}`;
          result('forward_internal', { url: address, error: { code, message } });
          if (continuesOnError) return undefined;
          return connection ? { kind: 'close', reason: message } : { kind: 'refuse', error, reason: message };
        };
        const found = isDenied ? undefined : environment.internal(owner.accountId, address);
        return found instanceof Promise ? found.then(go) : go(found);
      },
    };
  },
};

const isHttp = (proto: Proto) => proto === 'http' || proto === 'https';

function checkUrl(config: ConfigReader, text: string, isHttpOwner: boolean): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isFitting = isHttpOwner ? /^https?:$/.test(url?.protocol ?? '') : /^(tls|tcp):$/.test(url?.protocol ?? '');
  if (isFitting && url?.hostname.endsWith('.internal') && parseInternalUrl(text)) return;
  const example = isHttpOwner ? 'https://devices.internal' : 'tcp://devices.internal:5432';
  config.problem('url', PROBLEM.url, `must be the URL of an internal endpoint, as "${example}"`);
}
