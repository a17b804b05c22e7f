// What the tools ask the name server of a gateway, and what they have to read.

import type { ToolQuestion } from '../../support/dns/tools.ts';

export interface Asked extends ToolQuestion {
  what: string;
  status: string;
  /** Without those of EDNS, which follow from the question. */
  flags?: string;
  answers?: string[];
  /** The zone whose SOA says how long nothing may be kept. */
  negativeOf?: string;
  /** Zones are asked for over TCP only. */
  isTransfer?: boolean;
}

const AA = 'qr aa';

/** A gateway that has reserved a wildcard, and awaits challenges. */
export interface Names {
  /** Where the wildcard leads. */
  target: string;
  /** Where its challenges are: `one` and `two`. */
  challenge: string;
  /** Too many of them for UDP. */
  many: string;
}

export const MANY = Array.from({ length: 30 }, (_, i) => `${i}`.padStart(43, 'v'));

export const soaOf = (apex: string) => `${apex}. 1 SOA ns1.${apex}. hostmaster.${apex}. 1 3600 600 604800 1`;
const found = { status: 'NOERROR', flags: AA };
const noData = (apex: string) => ({ ...found, answers: [], negativeOf: apex });
const noName = (apex: string) => ({ ...noData(apex), status: 'NXDOMAIN' });
const refused = { status: 'REFUSED', flags: 'qr', answers: [] };

export function questionsOf({ target, challenge, many }: Names): Asked[] {
  const texts = ['one', 'two'].map((text) => `${challenge}. 0 TXT "${text}"`);
  const manyTexts = MANY.map((text) => `${many}. 0 TXT "${text}"`).sort();
  const ask = (what: string, name: string, type: string, more: Omit<Asked, 'what' | 'name' | 'type'>): Asked => ({
    ...{ what, name, type },
    ...more,
  });
  return [
    ask('SOA', 'tunnel.test', 'SOA', { ...found, answers: [soaOf('tunnel.test')] }),
    ask('NS', 'tunnel.test', 'NS', { ...found, answers: ['tunnel.test. 3600 NS ns1.tunnel.test.'] }),
    ask('NS of a zone below', 'acme.tunnel.test', 'NS', {
      ...{ ...found, answers: ['acme.tunnel.test. 3600 NS ns1.acme.tunnel.test.'] },
    }),
    ask('A of the apex', 'tunnel.test', 'A', { ...found, answers: ['tunnel.test. 60 A 192.0.2.1'] }),
    ask('AAAA of a tunnel', 'any.tunnel.test', 'AAAA', { ...found, answers: ['any.tunnel.test. 60 AAAA 2001:db8::1'] }),
    ask('A of a CNAME target', target, 'A', { ...found, answers: [`${target}. 60 A 192.0.2.1`] }),
    ask('AAAA of a CNAME target', target, 'AAAA', { ...found, answers: [`${target}. 60 AAAA 2001:db8::1`] }),
    ask('TXT of a challenge', challenge, 'TXT', { ...found, answers: texts }),
    ask('CAA of a CNAME target', target, 'CAA', noData('cname.tunnel.test')),
    ask('CAA of the apex', 'tunnel.test', 'CAA', noData('tunnel.test')),
    ask('NODATA', challenge, 'A', noData('acme.tunnel.test')),
    ask('TXT of a challenge that nobody awaits', '_acme-challenge.tunnel.test', 'TXT', noData('tunnel.test')),
    ask('NXDOMAIN of a challenge', 'nobody.acme.tunnel.test', 'TXT', noName('acme.tunnel.test')),
    ask('NXDOMAIN of a CNAME target', 'nobody.cname.tunnel.test', 'A', noName('cname.tunnel.test')),
    ask('a name of another zone', 'www.example.com', 'A', refused),
    ask('mixed case', 'aNy.tUNneL.TeST', 'A', { ...found, answers: ['aNy.tUNneL.TeST. 60 A 192.0.2.1'] }),
    ask('with DO', challenge, 'TXT', { ...found, answers: texts, isDnssecOk: true }),
    ask('with room for 4096 bytes', challenge, 'TXT', { ...found, answers: texts, udpBytes: 4096 }),
    ask('with room for 512 bytes', many, 'TXT', { ...found, answers: manyTexts, udpBytes: 512 }),
    ask('EDNS of version 1', 'tunnel.test', 'SOA', { status: 'BADVERS', flags: 'qr', answers: [], ednsVersion: 1 }),
    ask('ANY', 'tunnel.test', 'ANY', { ...found, answers: ['tunnel.test. 3600 HINFO "RFC8482" ""'] }),
    ask('version.bind', 'version.bind', 'TXT', { ...refused, class: 'CH' }),
    ask('AXFR', 'tunnel.test', 'AXFR', { ...refused, isTransfer: true }),
  ];
}
