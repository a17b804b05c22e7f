// Whom webhooks may go to: the operator's rules. Tenants give the URLs.

import { isIP } from 'node:net';
import { type Networks, networksOf } from '../../../net/networks.ts';
import type { EventSettings } from '../../settings.ts';

/** Names and networks, apart. */
export interface AllowedHosts {
  /** Whether a rule is about this very name, or about all below one above it. */
  hasName(host: string): boolean;
  /** Whether any rule is a network: names that no rule is about can be allowed by their addresses then. */
  readonly hasNetworks: boolean;
  readonly networks: Networks;
}

/** URLs can have more in the place of a name: `*` for one. */
const NAME = /^[\w-]+(\.[\w-]+)+$/;

export function allowedHostsOf(rules: readonly string[]): AllowedHosts {
  const names = new Set<string>();
  const above: string[] = [];
  const cidrs: string[] = [];
  for (const rule of rules) {
    if (isIP(rule.split('/', 1)[0] as string)) cidrs.push(rule);
    else if (rule.startsWith('*.')) above.push(rule.slice(1));
    else names.add(rule);
  }
  return {
    hasName: (host) => names.has(host) || (NAME.test(host) && above.some((suffix) => host.endsWith(suffix))),
    hasNetworks: cidrs.length > 0,
    networks: networksOf(cidrs),
  };
}

/**
 * Whether a webhook may go to a URL, as far as that can be said without looking its name up: a name that no rule is about
 * may still lead into a network that one is, which is seen when it is connected to.
 * @returns true, or the reason why not, to be read behind the name of the member.
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
