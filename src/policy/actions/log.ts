// The action `log`: logs metadata of a request, a response or a connection.

import { toJsonValue } from '../run/json-value.ts';
import { maskValuesIn } from '../run/mask-values.ts';
import type { ActionKind } from '../settings/action-kind.ts';
import { PROBLEM } from '../settings/problems.ts';
import { type ComputedValue, compileValue, isObject } from '../settings/values.ts';

const MEMBERS_MAX = 50;

export const logAction: ActionKind = {
  type: 'log',
  phases: ['on_tcp_connect', 'on_http_request', 'on_http_response'],
  members: ['metadata'],
  result: 'log',
  compile(config) {
    const { environment } = config;
    const raw = config.raw('metadata');
    let metadata: ComputedValue = () => null;
    if (raw === undefined)
      config.problem('metadata', PROBLEM.missing, 'is missing: it must be an object of names and values to log');
    else if (!isObject(raw)) config.problem('metadata', PROBLEM.field, 'must be an object of names and values');
    else if (Object.keys(raw).length > MEMBERS_MAX)
      config.problem('metadata', PROBLEM.count, `must have at most ${MEMBERS_MAX} members`);
    else metadata = compileValue(config, 'metadata', raw);
    return {
      isTerminal: false,
      run({ exchange, connection, bindings, result }) {
        const value = metadata(bindings);
        const about = exchange ?? connection;
        if (about) {
          const { accountId } = about.endpoint;
          const said = maskValuesIn(toJsonValue(value), { secrets: environment.secrets, accountId }) as object;
          environment.note(about, said);
          const { decisions } = about;
          if (decisions) decisions.policyLogs = [...(decisions.policyLogs ?? []), said];
        }
        result('log', { metadata: value });
        return undefined;
      },
    };
  },
};
