// The hosts that webhooks may call, by the operator's rules. Tenants give the URLs.

import { isIP } from 'node:net';
import { allowedHostsOf } from '../../../net/host-rules.ts';
import type { EventSettings } from '../../settings.ts';

/**
 * Whether a webhook may call a URL, as far as this can be decided without resolving its name. A name without a rule may still
 * resolve into an allowed network, which is checked when the connection is made.
 * @returns true, or the reason why not, which follows the name of the member in an error.
 */
export function isUrlAllowed(text: string, settings: Pick<EventSettings, 'eventWebhookHosts'>): true | string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be a URL that begins with https://';
  if (url.username || url.password) return 'must be a URL without a user name';
  const hosts = allowedHostsOf(settings.eventWebhookHosts);
  const host = hostOfUrl(url);
  const isPlain = url.protocol === 'http:';
  const byNetwork = isIP(host) ? hosts.networks.has(host) : hosts.hasNetworks;
  if (byNetwork || (!isPlain && hosts.hasName(host))) return true;
  return isPlain && (hosts.hasName(host) || hosts.hasNetworks)
    ? 'must begin with https://: http:// is for networks that the operator lists'
    : `must be at a host that the operator allows: "${host}" is not one (EVENT_WEBHOOK_HOSTS of the gateway)`;
}

/** The host of a URL, of IPv6 without brackets. */
export function hostOfUrl(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}
