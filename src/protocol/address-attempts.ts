// How long each address of a name gets when a connection is made.

import { getDefaultAutoSelectFamilyAttemptTimeout, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';

/** The least that each address of a name gets before the next one is tried; milliseconds. */
export const ADDRESS_ATTEMPT_MS = 3000;

/**
 * Gives each address of a name this time, for all connections of the process, those of libraries, too. Node gives 250 ms and then
 * ends the attempt, where RFC 8305 section 5 only begins the next one beside it. Where the first address takes longer than that, as
 * on mobile networks, and the device has no route to the second, it would never connect. A longer time that the operator gave Node
 * stays.
 */
export function giveAddressesTime(): void {
  setDefaultAutoSelectFamilyAttemptTimeout(Math.max(getDefaultAutoSelectFamilyAttemptTimeout(), ADDRESS_ATTEMPT_MS));
}
