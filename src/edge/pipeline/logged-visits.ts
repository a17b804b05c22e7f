// Which requests are logged: all that come to an endpoint, where there is a log.

import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { LoggedRequest } from '../reports/logged-request.ts';
import type { ListenerContext } from './listener-context.ts';
import type { RequestSource } from './transport.ts';

/**
 * To be called when a request has come to its endpoint.
 * @param now of the listener's clock.
 * @returns what is to be told how it goes on; undefined where no requests are logged.
 */
export function logRequest(
  endpoint: LiveEndpoint,
  { services, scheme }: ListenerContext,
  { head, client, http2Fields }: RequestSource,
  now: number,
): LoggedRequest | undefined {
  const { requestLog } = services;
  if (!requestLog) return undefined;
  const origin = { scheme, connection: client.connection, isHttp2: http2Fields !== undefined };
  return new LoggedRequest(requestLog, endpoint, head, origin, { at: services.time(), now });
}
