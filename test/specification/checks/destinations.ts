// Section 2.5, and what sections 4.5 and 6 say of event destinations, through both doors.

import { describe, expect, test } from 'vitest';
import { deliveryOf, subscribeTo } from '../../support/events/pipeline-account.ts';
import { sampleFrom } from '../samples.ts';
import { says, sentences } from '../tables.ts';
import { ask, bodyOf, type DoorName, done, doorNames, fullAnswer, gateway, targets, texts } from '../walk.ts';

const CREATE = 'POST /event_destinations';
const kinds = [...new Set(targets.map(({ kind }) => kind))];
// biome-ignore lint/suspicious/noExplicitAny: a body, which is taken apart.
type Json = any;
const targetOf = (kind: string, by?: string): Json =>
  targets.find((one) => one.kind === kind && (by === undefined || one.by === by))?.target;
const ofAws = targets.filter(({ by }) => by === 'role').map(({ kind }) => kind);

async function isRefused(door: DoorName, target: unknown, more: object = {}): Promise<void> {
  const answer = await ask(door, CREATE, { body: { target, ...more } });
  expect(answer, JSON.stringify(target)).toMatchObject({ status: 400, body: null });
}

/** Registers the checks. */
export function checkDestinations(): void {
  test(says('2.5 targets'), () => {
    const [, listed = ''] = /^Members: (.*)\.$/.exec(sentences.get('2.5 targets')?.sentence ?? '') ?? [];
    expect(kinds).toEqual(listed.split(', '));
  });

  describe.each(doorNames)('event destinations through %s:', (door) => {
    const createdFrom = (title: string) => sampleFrom(`${CREATE} to ${title}`).answer(door);

    test.each(targets)(`$title: ${says('6 kinds')}`, async ({ title, kind, target }) => {
      const made = await createdFrom(title);
      expect(made).toMatchObject({ format: 'json', description: '', metadata: '' });
      expect(made.target[kind]).toMatchObject(target);
    });

    test.each(targets)(`$title: ${says('2.5 nulls')}`, async ({ title, kind, by }) => {
      const { id, target } = await createdFrom(title);
      const read = await done(door, 'GET /event_destinations/{id}', { ids: { id } });
      for (const shown of [target, read.target]) {
        expect(Object.keys(shown).sort()).toEqual([...kinds].sort());
        for (const other of kinds.filter((one) => one !== kind)) expect(shown[other], other).toBeNull();
        expect(shown[kind]).not.toBeNull();
        if (by) expect(shown[kind].auth[by === 'role' ? 'creds' : 'role']).toBeNull();
      }
    });

    const pairs = kinds.flatMap((one, index) => kinds.slice(index + 1).map((other) => [one, other] as const));
    test.each(pairs)(`%s and %s: ${says('2.5 one target')}`, async (one, other) => {
      const target = { [one]: targetOf(one), [other]: targetOf(other) };
      await isRefused(door, target);
      const { id } = (await fullAnswer('rest', CREATE)).answer;
      const answer = await ask(door, 'PATCH /event_destinations/{id}', { ids: { id }, body: { target } });
      expect(answer).toMatchObject({ status: 400, body: null });
    });
    test(`none, and one beside nulls: ${says('2.5 one target')}`, async () => {
      const nulls = Object.fromEntries(kinds.map((kind) => [kind, null]));
      for (const target of [{}, nulls, null]) await isRefused(door, target);
      const target = { ...nulls, datadog: targetOf('datadog') };
      expect(await ask(door, CREATE, { body: { target } })).toMatchObject({ status: 201, body: { target } });
    });

    test.each(ofAws)(`%s: ${says('2.5 auth')}`, async (kind) => {
      const [role, creds] = [targetOf(kind, 'role'), targetOf(kind, 'creds')];
      for (const auth of [{ ...role.auth, ...creds.auth }, {}, { role: null, creds: null }, null])
        await isRefused(door, { [kind]: { ...role, auth } });
      const { auth: _, ...without } = role;
      await isRefused(door, { [kind]: without });
    });
    test.each(ofAws)(`%s: ${says('2.5 role')}`, async (kind) => {
      for (const role of [{}, { role_arn: '' }, { role_arn: 'x' }, 'x', { role_arn: 7 }])
        await isRefused(door, { [kind]: { ...targetOf(kind, 'role'), auth: { role } } });
    });
    test.each(ofAws)(`%s: ${says('2.5 creds')}`, async (kind) => {
      const { auth, ...place } = targetOf(kind, 'creds');
      for (const name of Object.keys(auth.creds)) {
        const { [name]: _, ...others } = auth.creds;
        for (const creds of [others, { ...auth.creds, [name]: 7 }])
          await isRefused(door, { [kind]: { ...place, auth: { creds } } });
      }
    });

    const fields = targets
      .filter(({ by }) => by !== 'creds')
      .flatMap(({ kind, target }) =>
        Object.keys(target)
          .filter((name) => name !== 'auth')
          .map((name) => [kind, name] as const),
      );
    test.each(fields)('2.5 target.%s.%s is a string, and nothing else', async (kind, name) => {
      for (const value of [7, ['x', 'y']]) await isRefused(door, { [kind]: { ...targetOf(kind), [name]: value } });
    });

    test(`the only accepted value is json: ${says('6 format')}`, async () => {
      const { target, format } = bodyOf(CREATE) ?? {};
      expect(format).toBe('json');
      const { id } = (await fullAnswer(door, CREATE)).answer;
      for (const other of ['JSON', 'xml', 'csv', 'json ', 7]) {
        await isRefused(door, target, { format: other });
        const answer = await ask(door, 'PATCH /event_destinations/{id}', { ids: { id }, body: { format: other } });
        expect(answer, String(other)).toMatchObject({ status: 400, body: null });
      }
    });

    test('4.5 Update takes any of metadata, description, format, target, and leaves the others as they are', async () => {
      const { id } = (await fullAnswer(door, CREATE)).answer;
      const update = (body: object) => done(door, 'PATCH /event_destinations/{id}', { ids: { id }, body });
      const before = await update(texts);
      expect(await update({ description: 'new' })).toEqual({ ...before, description: 'new' });
      expect(await update({ metadata: 'new' })).toEqual({ ...before, description: 'new', metadata: 'new' });
      expect(await update({ format: 'json' })).toEqual({ ...before, description: 'new', metadata: 'new' });
    });
  });

  test(`${says('4.5 unsubscribed')} ${says('6 subscriptions')}`, async () => {
    const account = await gateway.newAccount();
    const create = () => done('rest', CREATE, { as: account, body: bodyOf(CREATE) });
    const [alone, subscribed] = [await create(), await create()];
    await subscribeTo(account, [subscribed.id], ['tunnel_credential_created.v0']);
    await done('rest', 'POST /credentials', { as: account, body: {} });
    // Nobody listens where events of tests go: they wait.
    await expect.poll(async () => (await deliveryOf(account, subscribed.id)).waiting_events).toBe(1);
    expect(await deliveryOf(account, alone.id)).toMatchObject({ state: 'ok', waiting_events: 0, delivered_events: 0 });
  });
}
