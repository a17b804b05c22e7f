// The requests that traffic policies send from this process.

import type { SendOutbound } from '../../http/outbound.ts';
import { OutboundHttp } from '../../policy/calls/outbound-http.ts';
import type { FetchReach } from '../../policy/keys/fetch-bytes.ts';
import type { Lifecycle } from '../lifecycle.ts';

/** Prepares them. No connection is made before the first one. */
export async function startOutbound(parts: Lifecycle, reach: FetchReach): Promise<SendOutbound> {
  const outbound = await parts.start({
    name: 'requests of policies',
    start: () => new OutboundHttp(reach),
    stop: (outbound) => outbound.close(),
  });
  return outbound.send.bind(outbound);
}
