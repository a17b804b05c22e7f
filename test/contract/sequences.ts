// Two accounts live through the same random sequence of operations, each step through REST in one of them and through
// GraphQL in the other: every step answers both alike and leaves both in the same state.

import fc from 'fast-check';
import { expect } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { type Account, sharedGateway } from '../support/gateway/gateway.ts';
import { type Door, graphqlDoor, type Ids, type Outcome, type Page, rest } from './doors.ts';
import { groups, type KindName, kinds } from './kinds.ts';

const STEPS_MAX = 10;
const SEED = Number(process.env.PROPERTY_SEED ?? 20261121);

type Action = 'create' | 'get' | 'list' | 'update' | 'delete';

interface Step {
  kind: KindName;
  action: Action;
  body: object;
  /** Which of the kinds that the path names: the n-th that was made. */
  pick: number;
  page?: { limit?: unknown; before?: number };
  /** Whether the first account goes through GraphQL. */
  swapped: boolean;
}

const actions: Action[] = ['create', 'create', 'get', 'list', 'update', 'update', 'update', 'delete'];

/** Mostly one of the first that were made. */
const pick = fc.constantFrom(0, 0, 0, 1, 1, 2, 9);
const page = fc.record({ limit: fc.constantFrom(1, 2, 100, 0, 101), before: pick }, { requiredKeys: [] });

const stepOf = (kind: KindName, action: Action): fc.Arbitrary<Step> => {
  const { body, change = body } = kinds[kind];
  return fc.record({
    kind: fc.constant(kind),
    action: fc.constant(action),
    body: action === 'update' ? change : body,
    pick,
    page: fc.option(page, { nil: undefined }),
    swapped: fc.boolean(),
  });
};

/** First one of each kind, so that there is something to work on; then anything. */
const sequence = fc.constantFrom(...groups).chain((names) => {
  const creations = names.filter((kind) => kinds[kind].operations.create).map((kind) => stepOf(kind, 'create'));
  const any = fc
    .constantFrom(...names)
    .chain((kind) =>
      fc.tuple(fc.constant(kind), fc.constantFrom(...actions.filter((it) => kinds[kind].operations[it]))),
    )
    .chain(([kind, action]) => stepOf(kind, action));
  const rest = fc.array(any, { minLength: 1, maxLength: STEPS_MAX, size: 'max' });
  return fc.tuple(fc.tuple(...creations), rest).map(([first, then]) => [...first, ...then]);
});

/** One of the two accounts, with what it has made so far. */
class Side {
  readonly account: Account;
  readonly made: [kind: KindName, id: string][] = [];
  /** A word for names that must be unique among all accounts. */
  readonly word: string;
  /** The same for both: ids that never were. */
  readonly unknown = newId('cr');

  constructor(account: Account) {
    this.account = account;
    this.word = account.accountId.slice(3).toLowerCase();
  }

  async take({ kind, action, body, pick, page }: Step, door: Door): Promise<Outcome> {
    const { operations, place } = kinds[kind];
    const asked = operations[action];
    if (!asked) throw new Error(`${kind} has no ${action}`);
    const parameters = Object.entries(place).filter(([name]) => asked.path.includes(`{${name}}`));
    const ids: Ids = Object.fromEntries(parameters.map(([name, of]) => [name, this.idOf(of, pick)]));
    const writes = action === 'create' || action === 'update';
    const filled = writes ? (this.filled(body) as object) : undefined;
    const outcome = await door(this.account, asked, ids, filled, this.pageOf(kind, action, page));
    if (action === 'create' && outcome.errorCode === null) this.made.push([kind, outcome.body.id]);
    return outcome;
  }

  private pageOf(kind: KindName, action: Action, page: Step['page']): Page | undefined {
    if (action !== 'list' || !page) return undefined;
    return { limit: page.limit, before_id: page.before === undefined ? undefined : this.idOf(kind, page.before) };
  }

  /** The list of a kind, through a door. */
  list(kind: KindName, door: Door): Promise<Outcome> {
    const owner = kind === 'route' || kind === 'breaker' ? 'httpsEdge' : kind; // They are listed with their edge.
    return this.take({ kind: owner, action: 'list', body: {}, pick: 0, swapped: false }, door);
  }

  idOf(kind: KindName, index: number): string {
    const ids = this.made.filter(([of]) => of === kind);
    return ids[index]?.[1] ?? this.unknown;
  }

  filled(value: unknown): unknown {
    if (typeof value === 'string') {
      const [, kind, index] = /^\$(\w+):(\d+)$/.exec(value) ?? [];
      return kind ? this.idOf(kind as KindName, Number(index)) : value.replace('{side}', this.word);
    }
    if (Array.isArray(value)) return value.map((item) => this.filled(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.filled(member)]));
  }

  /** The outcome without what differs from account to account, from door to door, and from second to second. */
  normal({ status, errorCode, body }: Outcome): unknown {
    let text = JSON.stringify({ status, errorCode, body: body ?? null });
    this.made.forEach(([kind, id], index) => {
      text = text.replaceAll(id, `${kind}#${index}`);
    });
    return JSON.parse(
      text
        .replaceAll(this.account.ownerId, 'me')
        .replaceAll(this.word, '{side}')
        .replaceAll(this.unknown, 'unknown')
        .replace(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/g, '"<time>"')
        .replace(/"token":"\w+"/g, '"token":"<token>"')
        .replace(/"[a-z0-9]+\.(cname|acme)\./g, '"<random>.$1.'),
    );
  }
}

/** Lets so many pairs of accounts live, each through a sequence of its own. */
export async function liveThrough(sequences: number): Promise<void> {
  const gateway = await sharedGateway();
  const doors: Record<'rest' | 'graphql', Door> = { rest, graphql: await graphqlDoor(gateway) };
  const seen = new Map<string, number>();
  let steps = 0;
  const property = fc.asyncProperty(sequence, async (all) => {
    const [first, second] = [new Side(await gateway.newAccount()), new Side(await gateway.newAccount())];
    for (const next of all) {
      const [ofFirst, ofSecond] = next.swapped ? [doors.graphql, doors.rest] : [doors.rest, doors.graphql];
      const outcome = await first.take(next, ofFirst);
      expect(second.normal(await second.take(next, ofSecond))).toEqual(first.normal(outcome));
      const what = outcome.errorCode ?? 'done';
      seen.set(what, (seen.get(what) ?? 0) + 1);
      steps++;
      if (next.action === 'get' || next.action === 'list') continue;

      const state = await first.list(next.kind, ofSecond);
      expect(second.normal(await second.list(next.kind, ofFirst))).toEqual(first.normal(state));
    }
  });
  await fc.assert(property, { seed: SEED, numRuns: sequences });

  // It would prove little if nothing was refused, or all.
  expect(seen.get('done') ?? 0).toBeGreaterThan(steps / 5);
  expect(seen.size).toBeGreaterThan(5);
}
