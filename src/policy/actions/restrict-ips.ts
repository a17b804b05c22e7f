// The action `restrict-ips`: allows or denies visitors by their IP address.

import { type Networks, networksOf, readCidr } from '../../net/networks.ts';
import type { Template } from '../cel/template.ts';
import type { Bindings } from '../cel/vocabulary.ts';
import type { ActionKind, ActionVerdict, ConfigReader } from '../settings/action-kind.ts';
import { PROBLEM } from '../settings/problems.ts';

const NETWORKS_MAX = 1000;

export const restrictIpsAction: ActionKind = {
  type: 'restrict-ips',
  phases: ['on_tcp_connect', 'on_http_request', 'on_http_response'],
  members: ['allow', 'deny', 'ip_policies', 'enforce'],
  result: 'restrict_ips',
  compile(config) {
    if (config.has('ip_policies'))
      config.problem(
        'ip_policies',
        PROBLEM.field,
        'cannot be named in a policy here: write their networks in allow and deny',
      );
    else if (!config.has('allow') && !config.has('deny'))
      config.problem('allow', PROBLEM.missing, 'is missing: name networks under allow, deny or both');
    const allow = listOf(config, 'allow');
    const deny = listOf(config, 'deny');
    const enforce = config.flag('enforce', true);
    return {
      isTerminal: false,
      run({ exchange, connection, bindings, result }) {
        const ip = (exchange ?? connection)?.visitor.ip ?? '';
        const [allowed, denied] = [allow?.(bindings), deny?.(bindings)];
        if (allowed === 'bad' || denied === 'bad')
          return refused(connection, 'a computed network is not valid', 'policyFailed');
        const deniedBy = denied?.find(ip);
        const allowedBy = allowed?.find(ip);
        // Without an allow list, every address that is not denied is allowed.
        const isAllowed = deniedBy === undefined && (!allowed || allowedBy !== undefined);
        const matched = deniedBy ?? allowedBy ?? '';
        result('restrict_ips', { action: isAllowed ? 'allow' : 'deny', matched_cidr: matched });
        if (isAllowed || !enforce) return undefined;
        return refused(
          connection,
          deniedBy ? `${ip} is in ${deniedBy}` : `${ip} is in none of the networks`,
          'addressRefused',
        );
      },
    };
  },
};

function refused(connection: unknown, reason: string, error: 'addressRefused' | 'policyFailed'): ActionVerdict {
  return connection ? { kind: 'close', reason } : { kind: 'refuse', error, reason };
}

/** Reads a list of networks. @returns a function that computes them for a request; undefined when the list is missing. */
function listOf(config: ConfigReader, name: string): ((bindings: Bindings) => Networks | 'bad') | undefined {
  if (!config.has(name)) return undefined;
  const templates = config.templates(name, { min: 0, max: NETWORKS_MAX });
  templates.forEach(({ constant }, i) => {
    if (constant !== undefined && constant !== '' && !readCidr(constant))
      config.problem(`${name}[${i}]`, PROBLEM.cidr, 'must be a network such as 10.0.0.0/8 or 2001:db8::/32');
  });
  if (!templates.every(({ constant }) => constant !== undefined)) return (bindings) => computed(templates, bindings);
  const networks = networksOf(templates.map(({ constant = '' }) => constant).filter((text) => readCidr(text)));
  return () => networks;
}

function computed(templates: readonly Template[], bindings: Bindings): Networks | 'bad' {
  const texts = templates.map((template) => template.evaluate(bindings));
  return texts.every((text) => readCidr(text)) ? networksOf(texts) : 'bad';
}
