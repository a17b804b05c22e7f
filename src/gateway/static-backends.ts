// The connections of this process to static backends.

import { AddressDialer } from '../edge/dialing/address-dialer.ts';
import type { DialSettings } from '../edge/settings.ts';
import type { Lifecycle } from './lifecycle.ts';

/** Prepares them; those that visitors leave open end with it. */
export function startDialer(parts: Lifecycle, settings: DialSettings): Promise<AddressDialer> {
  return parts.start({
    name: 'static backends',
    start: () => new AddressDialer(settings),
    stop: (dialer) => dialer.close(),
  });
}
