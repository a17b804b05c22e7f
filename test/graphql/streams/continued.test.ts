// Streams of changes that go on where they were, and that tell when they cannot.

import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ChangeHistory } from '../../../src/store/changes/change-history.ts';
import { type Change, Changes } from '../../../src/store/changes/changes.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { type EventStream, openEvents, type StreamEvent } from '../../support/gateway/sse.ts';

const TYPED =
  'subscription ($ids: [ID!], $mark: Boolean) { credentialChanged(ids: $ids, mark: $mark) { action objectId credential { id } } }';
const ALL = 'subscription { changes(kinds: ["credential"]) { changes { objectId } } }';

let gateway: TestGateway;
let account: Account;
const ends: (() => void)[] = [];
beforeAll(async () => {
  gateway = await sharedGateway();
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function open(query: string, variables: object = {}, lastEventId?: string): Promise<EventStream> {
  const stream = await openEvents(gateway.api, account.key, { query, variables }, lastEventId);
  ends.push(stream.close);
  return stream;
}

const create = async (): Promise<string> => (await account.call('POST', '/credentials', {})).body.id;
const told = ({ data }: StreamEvent) => data.data.credentialChanged ?? data.data.changes.changes;
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
