// The hosts that webhooks may call, by the operator's rules. Tenants give the URLs.

import { isIP } from 'node:net';
import { type Networks, networksOf } from '../../../net/networks.ts';
import type { EventSettings } from '../../settings.ts';

/** The rules, separated into names and networks. */
export interface AllowedHosts {
  /** Whether a rule allows this name, by itself or by a wildcard. */
  hasName(host: string): boolean;
  /** Whether any rule is a network. If so, names without a rule can be allowed by their addresses. */
  readonly hasNetworks: boolean;
  readonly networks: Networks;
}

/** A URL can have other characters in its host, such as `*`, which must not match a wildcard. */
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
