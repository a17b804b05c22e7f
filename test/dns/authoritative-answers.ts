// What the responder of the tests answers for the names of its zones.

import type { TypeName } from '../support/dns/client.ts';

const NXDOMAIN = 3;

/** How negative answers end: what may be kept, and for how long. */
const soa = (apex: string, mname: string, rname = `hostmaster.${apex}`) =>
  `${apex} 1 SOA ${JSON.stringify({ mname, rname, serial: 1, refresh: 3600, retry: 600, expire: 604_800, minimum: 1 })}`;
const SOA = soa('tunnel.test', 'ns1.tunnel.test');
const ACME_SOA = soa('acme.tunnel.test', 'ns1.tunnel.test');
const CNAME_SOA = soa('cname.eu.tunnel.test', 'ns1.cname.eu.tunnel.test', 'dns\\.admin.example.com');

export interface Row {
  what: string;
  name: string | string[];
  type: TypeName | number;
  code?: number;
  answers?: string[];
  authority?: string[];
  additional?: string[];
}

export const rows: Row[] = [
  {
    what: 'all values of a name, each once, which nobody may keep',
    ...{ name: 'abc123.acme.tunnel.test', type: 'TXT' },
    answers: ['abc123.acme.tunnel.test 0 TXT one', 'abc123.acme.tunnel.test 0 TXT two'],
  },
  {
    what: 'long values in pieces, and an empty one',
    ...{ name: 'long.acme.tunnel.test', type: 'TXT' },
    answers: ['long.acme.tunnel.test 0 TXT ', `long.acme.tunnel.test 0 TXT ${'x'.repeat(255)}|${'x'.repeat(45)}`],
  },
  ...(['A', 'AAAA', 'CAA', 'NS', 'SOA', 'MX', 'DS', 'HTTPS', 65_280] as const).map((type) => ({
    ...{ what: `that a name with values has no ${type}`, name: 'abc123.acme.tunnel.test', type },
    authority: [ACME_SOA],
  })),
  {
    what: 'that a target without values exists',
    ...{ name: 'empty.acme.tunnel.test', type: 'TXT' },
    authority: [ACME_SOA],
  },
  {
    what: 'that an unknown name does not exist',
    ...{ name: 'unknown.acme.tunnel.test', type: 'TXT', code: NXDOMAIN },
    authority: [ACME_SOA],
  },
  {
    what: 'the IPv4 addresses of a tunnel',
    ...{ name: 'app.tunnel.test', type: 'A' },
    answers: ['app.tunnel.test 60 A 192.0.2.1'],
  },
  {
    what: 'the IPv6 addresses of a tunnel',
    ...{ name: 'app.tunnel.test', type: 'AAAA' },
    answers: ['app.tunnel.test 60 AAAA 2001:db8::1'],
  },
  { what: 'that a tunnel has no texts', name: 'app.tunnel.test', type: 'TXT', authority: [SOA] },
  {
    what: 'the texts of a name with addresses',
    ...{ name: 'site.tunnel.test', type: 'TXT' },
    answers: ['site.tunnel.test 0 TXT owner=1'],
  },
  {
    what: 'the addresses of the zone that a name is in',
    ...{ name: 'shop.cname.eu.tunnel.test', type: 'A' },
    answers: ['shop.cname.eu.tunnel.test 60 A 192.0.2.3'],
  },
  {
    what: 'that a target of CNAMEs allows every authority',
    ...{ name: 'shop.cname.eu.tunnel.test', type: 'CAA' },
    authority: [CNAME_SOA],
  },
  {
    what: 'that a zone without IPv6 addresses has none',
    ...{ name: 'shop.cname.eu.tunnel.test', type: 'AAAA' },
    authority: [CNAME_SOA],
  },
  { what: 'the SOA of the apex', name: 'tunnel.test', type: 'SOA', answers: [SOA] },
  {
    what: 'the mailbox of who is responsible, whose name has a dot',
    ...{ name: 'cname.eu.tunnel.test', type: 'SOA' },
    answers: [CNAME_SOA],
  },
  {
    what: 'the name servers, and their addresses from the zones that they are in',
    ...{ name: 'acme.tunnel.test', type: 'NS' },
    answers: ['acme.tunnel.test 3600 NS ns1.tunnel.test', 'acme.tunnel.test 3600 NS ns.dns.acme.tunnel.test'],
    additional: [
      'ns1.tunnel.test 60 A 192.0.2.1',
      'ns1.tunnel.test 60 AAAA 2001:db8::1',
      'ns.dns.acme.tunnel.test 60 A 192.0.2.2',
    ],
  },
  {
    what: 'the addresses of the apex',
    ...{ name: 'tunnel.test', type: 'A' },
    answers: ['tunnel.test 60 A 192.0.2.1'],
  },
  {
    what: 'the addresses of a name server',
    ...{ name: 'ns1.tunnel.test', type: 'AAAA' },
    answers: ['ns1.tunnel.test 60 AAAA 2001:db8::1'],
  },
  { what: 'that the apex has no CAA', name: 'tunnel.test', type: 'CAA', authority: [SOA] },
  { what: 'that an apex below another zone has no DS there', name: 'acme.tunnel.test', type: 'DS', authority: [SOA] },
  { what: 'that the uppermost apex has no DS', name: 'tunnel.test', type: 'DS', authority: [SOA] },
  { what: 'that a name above a zone exists', name: 'eu.tunnel.test', type: 'A', authority: [SOA] },
  { what: 'that a name above a name server exists', name: 'dns.acme.tunnel.test', type: 'A', authority: [ACME_SOA] },
  { what: 'that a name above a known one exists', name: 'between.tunnel.test', type: 'A', authority: [SOA] },
  {
    what: 'almost nothing to a question for everything',
    ...{ name: 'abc123.acme.tunnel.test', type: 'ANY' },
    answers: ['abc123.acme.tunnel.test 3600 HINFO {"cpu":"RFC8482","os":""}'],
  },
  {
    what: 'almost nothing to a question for all of the apex',
    ...{ name: 'tunnel.test', type: 'ANY' },
    answers: ['tunnel.test 3600 HINFO {"cpu":"RFC8482","os":""}'],
  },
  {
    what: 'that there is not anything at an unknown name',
    ...{ name: 'x.tunnel.test', type: 'ANY', code: NXDOMAIN },
    authority: [SOA],
  },
  {
    what: 'that a name whose label has a dot does not exist, whatever it looks like',
    ...{ name: ['app.tunnel', 'tunnel', 'test'], type: 'A', code: NXDOMAIN },
    authority: [SOA],
  },
  {
    what: 'that a name with other bytes than ASCII does not exist',
    ...{ name: ['\xff\x00 \\', 'tunnel', 'test'], type: 'A', code: NXDOMAIN },
    authority: [SOA],
  },
];
