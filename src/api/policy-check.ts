// Traffic policies are compiled when they are uploaded, so that nothing is found to be wrong with them at traffic time.

import type { ModuleEnvironment } from '../edge/module.ts';
import { policyOf } from '../edge/policy/document.ts';
import { PolicyError } from '../edge/policy/problems.ts';
import type { Context } from './context.ts';
import { ApiError } from './errors.ts';
import type { Host } from './module.ts';

/** Nothing is run here: a policy is made, and thrown away. */
const nowhere: Omit<ModuleEnvironment, 'isPrivateFetched'> = {
  now: () => 0,
  time: () => 0,
  note: () => undefined,
  internal: () => undefined,
};

/**
 * @param blamed which member is to blame for what is wrong at a path of the document.
 * @throws {ApiError} that names all that is wrong, under the number of what comes first.
 */
export function checkPolicyOf(
  { kind }: Host,
  { accountId, app }: Context,
  value: string,
  blamed: (path: string) => string,
): void {
  const proto = kind === 'tlsEdge' ? 'tls' : 'https';
  try {
    const { connection } = policyOf(
      value,
      { accountId, proto },
      { ...nowhere, isPrivateFetched: app.config.policyFetch === 'any' },
    );
    if (connection && proto === 'https') throw new PolicyError([noConnections]);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    const member = blamed(error.problems[0]?.path ?? '');
    throw new ApiError('badPolicy', { member, number: error.number, problems: error.message });
  }
}

/** Which route a request takes is known long after its connection was accepted. */
const noConnections = {
  path: 'on_tcp_connect',
  number: 2248,
  message: 'is not for a route, which has requests: use on_http_request',
};
