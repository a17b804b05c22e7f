// Section 8: what lies on a limit is taken and given back, what lies one beyond is refused and changes nothing.

import { describe, expect, test } from 'vitest';
import { UINT32_MAX } from '../shape.ts';
import { bucketsMax, byteLimits, shareRange, uint32Members } from '../tables.ts';
import { ask, bodyOf, breaker, type DoorName, done, doorNames, once, route, titleOf } from '../walk.ts';

/** Characters of one to four bytes. */
const characters: [what: string, character: string][] = [
  ['one byte', 'x'],
  ['two bytes', 'é'],
  ['three bytes', '界'],
  ['four bytes', '😀'],
];

/** So many bytes of a character, filled up with letters. */
function textOf(character: string, bytes: number): string {
  const text = character.repeat(bytes / Buffer.byteLength(character));
  return text + 'x'.repeat(bytes - Buffer.byteLength(text));
}

const fitting = (character: string) =>
  Object.fromEntries(byteLimits.map(({ member, max }) => [member, textOf(character, max)]));

/** An object whose texts are as long as they may be: created with letters, and changed for the other characters. */
const withTexts = (door: DoorName, path: string, character: string) =>
  once(`${door} ${path} ${character}`, async () => {
    const texts = fitting(character);
    if (character === 'x') return done(door, `POST ${path}`, { body: { ...bodyOf(`POST ${path}`), ...texts } });
    const { id } = await once(`${door} ${path} x`, () =>
      done(door, `POST ${path}`, { body: { ...bodyOf(`POST ${path}`), ...fitting('x') } }),
    );
    return done(door, `PATCH ${path}/{id}`, { ids: { id }, body: texts });
  });

const cases = byteLimits.flatMap(({ member, max }) =>
  ['/credentials', '/event_destinations'].flatMap((path) =>
    doorNames.flatMap((door) =>
      characters.map(([what, character]) => [path, member, max, what, titleOf(door), { door, character }] as const),
    ),
  ),
);

const BREAKER = '/edges/https/{edge_id}/routes/{id}/circuit_breaker';
/** The members of which the design refuses 0: a circuit without time or buckets is none. */
const positive = ['tripped_duration', 'rolling_window', 'num_buckets'];
const [shareMin = Number.NaN, shareMax = Number.NaN] = shareRange ?? [];

interface Bounds {
  member: string;
  least: unknown;
  between: unknown;
  most: unknown;
  beyond: unknown[];
}

const bounds: Bounds[] = [
  ...uint32Members.map((member) => {
    const most = member === 'num_buckets' ? bucketsMax : UINT32_MAX;
    const beyond = [-1, most + 1, UINT32_MAX + 1, 1.5, '7', true];
    return { member, least: positive.includes(member) ? 1 : 0, between: 77, most, beyond };
  }),
  {
    ...{ member: 'error_threshold_percentage', least: shareMin, between: 1 / 3, most: shareMax },
    beyond: [-0.01, shareMax + Number.EPSILON, 50, 100, '0.5', true],
  },
  { member: 'enabled', least: false, between: true, most: true, beyond: ['true', 1] },
];
const within = ['least', 'between', 'most'] as const;

/** Registers the checks. */
export function checkLimits(): void {
  describe('8 texts are limited in bytes:', () => {
    test.each(cases)(
      '%s %s may have %i bytes, in characters of %s, through %s, and not one more',
      async (path, member, max, _, __, { door, character }) => {
        const text = textOf(character, max);
        expect(Buffer.byteLength(text)).toBe(max);
        const shown = await withTexts(door, path, character);
        expect(shown[member]).toBe(text);

        const refusal = { status: 400, body: null, message: expect.stringContaining(String(max)) };
        const { id } = shown;
        if (character === 'x') {
          const body = { ...bodyOf(`POST ${path}`), [member]: `${text}x` };
          expect(await ask(door, `POST ${path}`, { body })).toMatchObject(refusal);
        }
        const change = { [member]: `${text}x` };
        expect(await ask(door, `PATCH ${path}/{id}`, { ids: { id }, body: change })).toMatchObject(refusal);
        if (character === characters.at(-1)?.[1])
          expect((await done(door, `GET ${path}/{id}`, { ids: { id } }))[member], 'what is refused').toBe(text);
      },
    );
  });

  describe('8 the numbers of the circuit breaker', () => {
    const numbers = bounds.flatMap((bound) =>
      doorNames.flatMap((door) =>
        within.map((which) => [bound.member, bound[which], titleOf(door), which, door] as const),
      ),
    );
    test.each(numbers)('%s may be %j through %s (%s)', async (member, value, _, which, door) => {
      const body = Object.fromEntries(bounds.map((bound) => [bound.member, bound[which]]));
      const [put, got] = await once(`${door} ${which} ${BREAKER}`, async () => [
        await done(door, `PUT ${BREAKER}`, { ids: route, body }),
        await done(door === 'rest' ? 'graphql' : 'rest', `GET ${BREAKER}`, { ids: route }),
      ]);
      expect([put[member], got[member]]).toEqual([value, value]);
    });

    const refused = bounds.flatMap(({ member, beyond }) =>
      doorNames.flatMap((door) => beyond.map((value) => [member, value, titleOf(door), door] as const)),
    );
    test.each(refused)('%s may not be %j through %s', async (member, value, _, door) => {
      const answer = await ask(door, `PUT ${BREAKER}`, { ids: route, body: { ...breaker, [member]: value } });
      expect(answer).toMatchObject({ status: 400, body: null, message: expect.stringMatching(/\w/) });
    });

    test('change nothing where they are refused', async () => {
      const before = await done('rest', `PUT ${BREAKER}`, { ids: route, body: { ...breaker, num_buckets: 5 } });
      for (const { member, beyond } of bounds) {
        const body = { num_buckets: 6, [member]: beyond[0] };
        expect(await ask('rest', `PUT ${BREAKER}`, { ids: route, body })).toMatchObject({ status: 400 });
      }
      expect(await done('rest', `GET ${BREAKER}`, { ids: route })).toEqual(before);
    });

    test.each(doorNames)('through %s: enabled is true if unspecified, and Replace replaces the whole', async (door) => {
      await done(door, `PUT ${BREAKER}`, { ids: route, body: breaker });
      const defaults = await done(door, `PUT ${BREAKER}`, { ids: route, body: {} });
      expect(defaults).toMatchObject({ enabled: true });
      expect(
        Object.entries(defaults).filter(([name, value]) => value === null || value === breaker[name as never]),
      ).toEqual([]);
      const own = { ...defaults, volume_threshold: 77 };
      expect(await done(door, `PUT ${BREAKER}`, { ids: route, body: { volume_threshold: 77 } })).toEqual(own);
    });
  });
}
