// Who may come in, by address: the module of routes, edges and tunnels.

import type { VisitorConnection } from '../../http/exchange.ts';
import type { ConnectionModule, HttpModule } from '../../http/module.ts';
import { decisionReport } from '../../http/module-report.ts';
import type { Networks } from '../../net/networks.ts';
import { networksOf } from '../../net/networks.ts';
import type { ModuleDescriptor, ModuleSettings } from './descriptor.ts';
import { SettingsError } from './settings-error.ts';

export interface IpRestrictionSettings extends ModuleSettings {
  /** Networks such as `10.0.0.0/8`. Who is in none of `allow` is turned away, and who is in one of `deny`. */
  allow: string[];
  deny: string[];
}

const OF_CONNECTIONS = true;
const report = decisionReport<'allow' | 'deny'>(
  'ip_policy',
  'What the IP policies decided: "allow" or "deny".',
  OF_CONNECTIONS,
);

/** Each request is judged where there are requests, else each connection. Any of the policies may allow, and deny. */
export const ipRestrictionModule: ModuleDescriptor<IpRestrictionSettings, ModuleSettings> = {
  key: 'ipRestriction',
  phase: 'address',
  create(settings, { proto }) {
    const module = ipRestriction(settings);
    return proto === 'http' || proto === 'https' ? { http: module } : { connection: module };
  },
  report,
  resolve: ({ enabled }, { ipPolicies }) => ({
    enabled,
    allow: ipPolicies.flatMap(({ allow }) => allow),
    deny: ipPolicies.flatMap(({ deny }) => deny),
  }),
  bindOption: {
    names: ['IPRestriction'],
    read(options, name) {
      const lists = options.fields(name);
      const allow = lists.texts('allow_cidrs');
      return { enabled: true, allow: allow.length > 0 ? allow : [...EVERYBODY], deny: lists.texts('deny_cidrs') };
    },
  },
};

/** All addresses: what to allow where only what is denied is listed. */
export const EVERYBODY: readonly string[] = ['0.0.0.0/0', '::/0'];

/**
 * Lets in who is in one of `allow` and in none of `deny`: without anything in `allow`, nobody. The address is the
 * visitor's; nobody but trusted proxies may say that it is another one than that of the connection.
 * @throws {SettingsError}
 */
export function ipRestriction(settings: Pick<IpRestrictionSettings, 'allow' | 'deny'>): HttpModule & ConnectionModule {
  const allow = prepared('allow', settings.allow);
  const deny = prepared('deny', settings.deny);
  const reasonAgainst = (ip: string): string | undefined => {
    const denied = deny.find(ip);
    if (denied) return `${ip} is in ${denied}, which is denied`;
    return allow.has(ip) ? undefined : `${ip} is in no network that is allowed`;
  };
  const refusal = (visit: VisitorConnection): string | undefined => {
    const reason = reasonAgainst(visit.visitor.ip);
    report.note(visit.decisions, reason === undefined ? 'allow' : 'deny');
    return reason;
  };
  return {
    name: 'ip_restriction',
    onRequest(exchange) {
      const reason = refusal(exchange);
      return reason === undefined ? undefined : { kind: 'refuse', error: 'addressRefused', reason };
    },
    onConnection(connection) {
      const reason = refusal(connection);
      return reason === undefined ? undefined : { kind: 'close', reason };
    },
  };
}

function prepared(list: string, cidrs: readonly string[]): Networks {
  try {
    return networksOf(cidrs);
  } catch (error) {
    throw new SettingsError(`${list}: ${(error as Error).message}`);
  }
}
