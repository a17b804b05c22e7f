// Records of the DNS that a name needs, and what was found.

import type { CheckedRecord } from '../../../acme/jobs/job.ts';
import { builder } from '../../builder/builder.ts';

const DnsRecordState = builder.enumType('DnsRecordState', {
  description: 'Whether the DNS has a record.',
  values: {
    OK: { description: 'It is there, and leads where it should.' },
    MISSING: { description: 'It is not there.' },
    WRONG: { description: 'Something else is in its place.' },
    UNKNOWN: { description: 'The DNS gave no answer.' },
  } as const,
});

const DnsRecordType = builder.enumType('DnsRecordType', {
  description: 'A type of record of the DNS, by its name there (RFC 1035).',
  values: {
    CNAME: { description: 'Another name.' },
    A: { description: 'An address of IPv4, or of IPv6.' },
  } as const,
});

export const DnsRecordCheck = builder.objectRef<CheckedRecord>('DnsRecordCheck').implement({
  description: 'A record that a name needs, and what the DNS said.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name that the record is for, as `app.example.com`.' }),
    type: t.field({
      type: DnsRecordType,
      description: 'The type of the record: `CNAME`, or `A` for addresses.',
      resolve: ({ type }) => type as typeof DnsRecordType.$inferType, // Others are not checked.
    }),
    expected: t.exposeString('expected', { description: 'What it must say.' }),
    found: t.exposeStringList('found', {
      description: 'What was found in its place: names, or addresses; empty when nothing was.',
    }),
    state: t.field({ type: DnsRecordState, description: 'Whether it is there.', resolve: ({ state }) => state }),
    message: t.exposeString('message', { description: 'The same in words, and what to do.' }),
  }),
});
