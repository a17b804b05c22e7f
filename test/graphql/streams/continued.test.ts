// Streams of changes that go on where they were, and that tell when they cannot.

import { request } from 'node:http';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ChangeHistory } from '../../../src/store/changes/change-history.ts';
import { type Change, Changes } from '../../../src/store/changes/changes.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';

const TYPED =
  'subscription ($ids: [ID!], $mark: Boolean) { credentialChanged(ids: $ids, mark: $mark) { action objectId credential { id } } }';
const ALL = 'subscription { changes(kinds: ["credential"]) { changes { objectId } } }';

interface Event {
  id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of an event, which assertions look into.
  data: any;
}

let gateway: TestGateway;
let account: Account;
const ends: (() => void)[] = [];
beforeAll(async () => {
  gateway = await sharedGateway();
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A stream of events, with their ids. It listens when this resolves. */
async function open(query: string, variables: object = {}, lastEventId?: string) {
  const events: Event[] = [];
  const waiting: ((event: Event) => void)[] = [];
  let rest = '';
  await new Promise<void>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${account.key}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    };
    const sent = request(`${gateway.api}/graphql`, { method: 'POST', agent: false, headers }, (response) => {
      ends.push(() => response.destroy());
      response.setEncoding('utf8').on('data', (chunk: string) => {
        const parts = (rest + chunk).split('\n\n');
        rest = parts.pop() ?? '';
        for (const part of parts) {
          const data = /^data: (.*)$/m.exec(part)?.[1];
          if (data === undefined) continue;
          const event = { id: /^id: (.*)$/m.exec(part)?.[1], data: JSON.parse(data) };
          const take = waiting.shift();
          if (take) take(event);
          else events.push(event);
        }
        resolve();
      });
    });
    sent.on('error', reject).end(JSON.stringify({ query, variables }));
  });
  return { next: async (): Promise<Event> => events.shift() ?? new Promise((resolve) => waiting.push(resolve)) };
}

const create = async (): Promise<string> => (await account.call('POST', '/credentials', {})).body.id;
const told = ({ data }: Event) => data.data.credentialChanged ?? data.data.changes.changes;
const MARK = { action: 'UPDATED', objectId: '', credential: null };

describe('a stream of one kind', () => {
  test('goes on behind the event whose id it is given, and tells each change once', async () => {
    account = await gateway.newAccount();
    const stream = await open(TYPED);
    await create();
    const { id } = await stream.next();
    expect(id).toEqual(expect.any(String));
    const [second, third] = [await create(), await create()];
    const continued = await open(TYPED, {}, id);
    const fourth = await create();
    for (const expected of [second, third, fourth])
      expect(told(await continued.next())).toMatchObject({ action: 'CREATED', objectId: expected });
  });

  test.each([
    ['is of no stream', 'nonsense'],
    ['is of a process that nobody knows, of long ago', '00000000-1700000000000-1'],
  ])('says so when it cannot: an id that %s', async (_, lastEventId) => {
    account = await gateway.newAccount();
    const stream = await open(TYPED, {}, lastEventId);
    expect(told(await stream.next())).toEqual(MARK);
  });

  test('begins with a mark when it is asked to, and tells another when changes may have been missed', async () => {
    account = await gateway.newAccount();
    const stream = await open(TYPED, { mark: true });
    const first = await stream.next();
    expect(told(first)).toEqual(MARK);
    const id = await create();
    expect(told(await stream.next())).toMatchObject({ objectId: id });
    gateway.app.changes.reportGap();
    expect(told(await stream.next())).toEqual(MARK);
    // Whoever was away meanwhile cannot know either.
    expect(told(await (await open(TYPED, {}, first.id)).next())).toEqual(MARK);
  });

  test('tells of the objects that it is asked for only', async () => {
    account = await gateway.newAccount();
    const [wanted, other] = [await create(), await create()];
    const stream = await open(TYPED, { ids: [wanted] });
    for (const id of [other, wanted]) await account.call('PATCH', `/credentials/${id}`, { description: 'new' });
    expect(told(await stream.next())).toMatchObject({ objectId: wanted });
    const refused = await open(TYPED, { ids: Array.from({ length: 101 }, () => wanted) });
    expect((await refused.next()).data.errors[0].extensions.errorCode).toBe('ERR_GATEWAY_90250');
  });
});

test('the stream of all changes goes on without a mark, and begins with one where it cannot', async () => {
  account = await gateway.newAccount();
  const stream = await open(ALL);
  const first = await stream.next();
  expect(told(first)).toEqual([]);
  const id = await create();
  const continued = await open(ALL, {}, first.id);
  const event = await continued.next();
  expect(told(event)).toEqual([{ objectId: id }]);
  const again = await open(ALL, {}, event.id);
  const later = await create();
  expect(told(await again.next())).toEqual([{ objectId: later }]);
  expect(told(await (await open(ALL, {}, 'x')).next())).toEqual([]);
});

describe('changes of two processes', () => {
  const MINUTE = 60_000;
  const accountId = 'ac_1';
  const changeOf = (id: string, owner = accountId): Change => ({
    kind: 'credential',
    action: 'UPDATED',
    id,
    accountId: owner,
  });
  let clock: number;
  let here: Changes;
  let there: Changes;
  let histories: ChangeHistory[];
  const begin = () => {
    clock = 1_800_000_000_000;
    [here, there] = [new Changes(), new Changes()];
    histories = [here, there].map((changes) => new ChangeHistory(changes, () => clock));
    clock += MINUTE;
  };
  /** What each hears; the other 200 ms later. */
  const happen = async (id: string) => {
    await here.publish([changeOf(id), changeOf('other', 'ac_2')]);
    clock += 200;
    await there.publish([changeOf(id)]);
  };
  const since = (process: number, position = '') => histories[process]?.since(accountId, position)?.map(({ id }) => id);

  test('are continued at the one that told them exactly, at the other with what was just before', async () => {
    begin();
    await happen('long ago');
    clock += MINUTE;
    await happen('told');
    const position = histories[0]?.position(accountId);
    await happen('missed');
    expect(since(0, position)).toEqual(['missed']);
    expect(since(1, position)).toEqual(['told', 'missed']);
  });

  test('are not continued behind a gap, after a start, or when too much is forgotten', async () => {
    begin();
    await happen('told');
    const position = histories[0]?.position(accountId);
    there.reportGap();
    expect([since(0, position), since(1, position)]).toEqual([[], undefined]);
    const started = new ChangeHistory(there, () => clock);
    expect(started.since(accountId, position ?? '')).toBeUndefined();
    clock += 4 * MINUTE;
    await happen('missed');
    expect(since(0, position)).toEqual(['missed']);
    clock += 5 * MINUTE;
    await happen('forgets it');
    expect(since(0, position)).toBeUndefined();
  });

  test('are forgotten beyond twenty thousand', async () => {
    begin();
    const position = histories[0]?.position(accountId);
    clock++;
    await here.publish(Array.from({ length: 20_000 }, (_, i) => changeOf(`${i}`)));
    expect(since(0, position)).toHaveLength(20_000);
    clock++;
    await here.publish([changeOf('more')]);
    clock++;
    expect(since(0, position)).toBeUndefined();
  });
});
