// Who may come in, by address: the module of routes, edges and tunnels.

import type { VisitorConnection } from '../../http/exchange.ts';
import type { CloseConnection, ConnectionModule, HttpModule, ModuleRefusal } from '../../http/module.ts';
import { decisionReport } from '../../http/module-report.ts';
import { type AddressRules, addressCheck } from './address-rules.ts';
import type { ModuleDescriptor, ModuleSettings } from './descriptor.ts';

export interface IpRestrictionSettings extends ModuleSettings, AddressRules {}

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

/** What it does to requests and to connections, neither of which ever waits. */
export interface IpRestrictionEffect extends HttpModule, ConnectionModule {
  onRequest(exchange: VisitorConnection): ModuleRefusal | undefined;
  onConnection(connection: VisitorConnection): CloseConnection | undefined;
}

/**
 * Lets in who is in one of `allow` and in none of `deny`: without anything in `allow`, nobody. The address is the
 * visitor's; nobody but trusted proxies may say that it is another one than that of the connection.
 * @param reasonAgainst the rules as they are prepared already.
 * @throws {SettingsError}
 */
export function ipRestriction(rules: AddressRules, reasonAgainst = addressCheck(rules)): IpRestrictionEffect {
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
