// The requests that traffic policies send to internal endpoints of their accounts.

import { InternalCalls, type InternalCallsOptions } from '../../edge/internal-calls/internal-calls.ts';
import type { ModuleEnvironment } from '../../http/module.ts';
import type { Lifecycle } from '../lifecycle.ts';

/** Prepares them. They end with the visitors for whom they are sent. */
export async function startInternalCalls(
  parts: Lifecycle,
  options: InternalCallsOptions,
): Promise<NonNullable<ModuleEnvironment['callInternal']>> {
  const calls = await parts.start({
    name: 'requests of policies to internal endpoints',
    start: () => new InternalCalls(options),
    stop: (calls) => calls.close(),
  });
  return calls.connect.bind(calls);
}
