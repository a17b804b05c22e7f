import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rfc3339 } from '../../src/api/builder/timestamps.ts';

test('a timestamp is RFC 3339 in UTC, its fraction cut off, in any order of days', () => {
  const time = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(fc.array(time, { maxLength: 5 }), (times) => {
      for (const each of times) expect(rfc3339(each)).toBe(each.toISOString().replace(/\.\d+Z$/, 'Z'));
    }),
  );
});
