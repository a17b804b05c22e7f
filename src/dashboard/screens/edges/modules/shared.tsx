// Modules that edges and routes both may have.

import { AuthorityForm } from '../authorities/form.tsx';
import { BackendForm } from '../backends/form.tsx';
import { IpPolicyForm } from '../ip-policies/form.tsx';
import { PolicyAside } from '../policy/aside.tsx';
import { documentMember, rulesMember } from '../policy/members.tsx';
import { hasSecrets } from '../policy/secrets.ts';
import { certificateAuthority, backend as groups, ipPolicy } from '../things.ts';
import { choice, idsIn, pick, picks } from './member.tsx';
import type { Module } from './module.ts';

export const backend: Module = {
  field: 'backend',
  title: 'Backend',
  noun: 'backend',
  what: 'Where the traffic goes: to every live tunnel that has the labels of a tunnel group.',
  members: [
    pick('backendId', {
      label: 'Tunnel group',
      thing: groups,
      form: BackendForm,
      shownAs: 'backend',
      help: 'Agents need not be there yet.',
    }),
  ],
  names: ({ backend }) => idsIn(backend),
};

export const ipRestriction: Module = {
  field: 'ipRestriction',
  title: 'IP restriction',
  noun: 'IP restriction',
  what: 'Lets in only visitors whose address one of these IP policies allows, and none of them denies.',
  members: [
    picks('ipPolicyIds', {
      label: 'IP policies',
      thing: ipPolicy,
      form: IpPolicyForm,
      shownAs: 'ipPolicies',
      most: 10,
      help: '1 to 10 of them.',
    }),
  ],
  names: ({ ipPolicies }) => idsIn(ipPolicies),
};

export const mutualTls: Module = {
  field: 'mutualTls',
  title: 'Mutual TLS',
  noun: 'mutual TLS',
  what: 'Lets in only visitors whose certificate one of these authorities has issued.',
  members: [
    picks('certificateAuthorityIds', {
      label: 'Certificate authorities',
      thing: certificateAuthority,
      form: AuthorityForm,
      shownAs: 'certificateAuthorities',
      most: 10,
      help: '1 to 10 of them. The edge has to end TLS itself.',
    }),
  ],
  names: ({ certificateAuthorities }) => idsIn(certificateAuthorities),
};

export const minVersion = choice('minVersion', {
  label: 'Oldest version of TLS',
  options: [
    { value: '1.2', title: 'TLS 1.2' },
    { value: '1.3', title: 'TLS 1.3' },
  ],
  help: 'Visitors who speak only older ones are turned away.',
});

export const trafficPolicy: Module = {
  field: 'trafficPolicy',
  title: 'Traffic policy',
  noun: 'traffic policy',
  what: 'Rules for traffic: what is done when. They can be tried on a request before they are set.',
  members: [documentMember('value')],
  summary: ({ value }) => `${String(value).split('\n').length} lines`,
  hasSecrets,
  Aside: PolicyAside,
};

export const policy: Module = {
  field: 'policy',
  title: 'Policy (older shape)',
  noun: 'policy',
  what: 'The traffic policy in its older shape, two lists of rules. It is the same module: what is saved here replaces the document.',
  isAlias: true,
  members: [rulesMember('inbound', 'Inbound'), rulesMember('outbound', 'Outbound')],
  summary: ({ inbound, outbound }) => `${countOf(inbound)} inbound, ${countOf(outbound)} outbound`,
  hasSecrets,
  Aside: PolicyAside,
};

function countOf(rules: unknown): string {
  const count = Array.isArray(rules) ? rules.length : 0;
  return `${count} rule${count === 1 ? '' : 's'}`;
}
