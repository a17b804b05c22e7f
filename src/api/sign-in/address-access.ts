// From which addresses an account may be asked for, with API keys and in the dashboard.

import { waitAtMost } from '../../runtime/wait-at-most.ts';
import type { ApiApp, Caller } from '../context.ts';
import { ApiError } from '../errors/errors.ts';

/** What it takes to find out whether a restriction was lifted on the machine, of which nothing is heard; milliseconds. */
const REFRESH_MS = 2000;

const ERRORS = { api: 'apiAddressRefused', dashboard: 'dashboardAddressRefused' } as const;

/** What somebody uses: a browser session is the dashboard's, whatever it asks. */
export function usedBy({ sessionId }: Pick<Caller, 'sessionId'>): keyof typeof ERRORS {
  return sessionId === undefined ? 'api' : 'dashboard';
}

/** The error for an address from which the account may not be used so; undefined when it may. It is called once for each request. */
export async function addressRefusal(
  { restrictions }: Pick<ApiApp, 'restrictions'>,
  type: keyof typeof ERRORS,
  accountId: string,
  ip: string,
): Promise<ApiError | undefined> {
  if (restrictions.of(type, accountId)?.refusal(ip) === undefined) return undefined;
  await waitAtMost(REFRESH_MS, restrictions.refresh(accountId));
  return restrictions.of(type, accountId)?.refuses(ip) ? new ApiError(ERRORS[type], { ip }) : undefined;
}
