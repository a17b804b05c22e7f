// The action `set-vars`: sets variables for the rest of the phase.

import type { ActionKind, ConfigReader } from '../settings/action-kind.ts';
import { PROBLEM } from '../settings/problems.ts';
import { type ComputedValue, compileValue, isObject } from '../settings/values.ts';

const VARS_MAX = 50;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

export const setVarsAction: ActionKind = {
  type: 'set-vars',
  phases: ['on_tcp_connect', 'on_http_request', 'on_http_response'],
  members: ['vars'],
  compile(config) {
    const vars = listOf(config).flatMap((entry, i) => variableOf(config, `vars[${i}]`, entry) ?? []);
    return {
      isTerminal: false,
      run({ bindings, variable }) {
        for (const { name, value } of vars) variable(name, value(bindings));
        return undefined;
      },
    };
  },
};

function listOf(config: ConfigReader): unknown[] {
  const list = config.raw('vars');
  if (list === undefined) config.problem('vars', PROBLEM.missing, 'is missing: it must be a list of objects');
  else if (!Array.isArray(list)) config.problem('vars', PROBLEM.field, 'must be a list of objects');
  else if (list.length === 0) config.problem('vars', PROBLEM.empty, 'must not be empty');
  else if (list.length > VARS_MAX) config.problem('vars', PROBLEM.count, `must have at most ${VARS_MAX} entries`);
  else return list;
  return [];
}

function variableOf(
  config: ConfigReader,
  path: string,
  entry: unknown,
): { name: string; value: ComputedValue } | undefined {
  const [first, ...others] = isObject(entry) ? Object.entries(entry) : [];
  if (!first || others.length > 0) {
    config.problem(path, PROBLEM.variable, 'must be an object with exactly one name: each has an entry of its own');
    return undefined;
  }
  const [name, raw] = first;
  if (NAME.test(name)) return { name, value: compileValue(config, `${path}.${name}`, raw) };
  config.problem(`${path}.${name}`, PROBLEM.variable, 'must be a name of letters, digits and "_", as "user_id"');
  return undefined;
}
