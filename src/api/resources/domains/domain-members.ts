// What reserved domains can be found by: in their list, and in the search over everything.

import { id, type ListMembers, NOTED_MEMBERS, text } from '../../collections/members.ts';
import { NOTE_COLUMNS, type SearchColumns } from '../../resource.ts';

export const DOMAIN_MEMBERS: ListMembers = {
  ...NOTED_MEMBERS,
  domain: text('domain', { isOrdered: true }),
  region: text('region'),
  cname_target: text('cnameTarget', { isNullable: true }),
  acme_challenge_cname_target: text('acmeChallengeCnameTarget', { isNullable: true }),
  'certificate.id': id('certificateId', { isNullable: true }),
};

export const DOMAIN_SEARCH: SearchColumns = {
  ...{ rank: 80, table: 'reserved_domain', title: 't.domain', detail: 't.description' },
  texts: ['t.domain', 't.cname_target', 't.acme_challenge_cname_target', ...NOTE_COLUMNS],
};
