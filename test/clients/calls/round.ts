// The way through one kind of object, or one module, with the requests of all clients: what several write the same is sent once. What a
// client would stumble over is noted, so that a test tells of all of it at once.

import type { Answer } from '../../support/gateway/http.ts';
import {
  type Body,
  type ClientName,
  clientNames,
  clients,
  known,
  type Members,
  type Paging,
  type Writing,
} from './clients.ts';
import type { Module, ModuleOwner } from './edges.ts';
import type { Kind } from './kinds.ts';
import { faultsIn } from './shape.ts';
import type { ClientWorld } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
type Json = any;

interface Wanted {
  status: number;
  /** See shape.ts. */
  shape?: string;
  /** Members that come back as they were sent. */
  sent?: Members;
}

export interface Round {
  faults: string[];
  note(fault: string): void;
  /** Asks, and notes what is not as it is wanted. @returns undefined when the answer has another status. */
  ask(senders: ClientName[], method: string, path: string, wanted: Wanted, body?: Body): Promise<Json>;
}

export function beginRound(world: ClientWorld): Round {
  const faults: string[] = [];
  let turn = 0;
  return {
    faults,
    note: (fault) => void faults.push(fault),
    async ask(senders, method, path, { status, shape = '', sent = {} }, body) {
      // Each client's headers come round.
      const sender = senders[turn++ % senders.length] ?? 'go';
      const answer = await world.ask(sender, method, path, body);
      const sending = body === undefined ? '' : ` ${JSON.stringify(body)}`;
      const asked = `${senders}: ${method} ${path}${sending} → ${answer.status}`;
      if (answer.status !== status) return void faults.push(`${asked}, not ${status}: ${answer.text}`);
      const got = answer.body ?? {};
      const wrong = status < 400 ? [...faultsIn(got, shape), ...changesOf(sent, got)] : errorFaults(answer);
      faults.push(...wrong.map((fault) => `${asked}: ${fault}`));
      return got;
    },
  };
}

/** Python reads each of an error's members. */
const errorFaults = ({ body }: Answer) => faultsIn(body, 'error_code status_code# msg details { operation_id }');

function changesOf(sent: Members, answer: Members): string[] {
  return Object.entries(sent)
    .filter(([name, value]) => name in answer && JSON.stringify(answer[name]) !== JSON.stringify(value))
    .map(([name, value]) => `${name} was sent as ${JSON.stringify(value)} and is ${JSON.stringify(answer[name])}`);
}

/** A path with its parameters filled. */
export const at = (path: string, ids: Members) => path.replace(/\{(\w+)\}/g, (_, name: string) => String(ids[name]));

/** Makes what a path names. */
export async function placeIn(world: ClientWorld, within: Record<string, string> = {}): Promise<Members> {
  const ids: Members = {};
  for (const [parameter, path] of Object.entries(within))
    ids[parameter] = await world.make(at(path, ids), await world.filled(parents[path] ?? {}));
  return ids;
}

const parents: Record<string, Members> = {
  '/event_subscriptions': { sources: [{ type: 'tcp_connection_closed.v0' }], destination_ids: ['$destination'] },
  '/edges/https/{edge_id}/routes': { match_type: 'path_prefix', match: '/' },
};

/** A body that some clients write, and what those who call them gave. */
interface Written {
  senders: ClientName[];
  body: Body;
  given: Members;
}

/** What clients write for each way of giving members, each body once. */
function writings<T>(
  of: ClientName[],
  ways: T[],
  write: (client: ClientName, way: T) => Body,
): (Omit<Written, 'given'> & { way: T })[] {
  const all = new Map<string, Omit<Written, 'given'> & { way: T }>();
  for (const way of ways)
    for (const client of of) {
      const body = write(client, way);
      const text = body === undefined ? 'none' : JSON.stringify(body);
      const same = all.get(text);
      if (same) same.senders.push(client);
      else all.set(text, { senders: [client], body, way });
    }
  return [...all.values()];
}

/** Creates, reads, lists, changes and deletes, with the fewest members and with all. */
export async function runKind(world: ClientWorld, kind: Kind): Promise<string[]> {
  const round = beginRound(world);
  const { key = 'id', of = clientNames, shape, create, update, parts = [], isSingle } = kind;
  const place = await placeIn(world, kind.within);
  const path = at(kind.path, place);
  const made: { own: string; id: string; given: Members }[] = [];
  const remove = async (own: string) => void (await round.ask(of, 'DELETE', own, { status: 204 }));

  for (const { senders, body, given } of await written(create, place, [{}, ...(create.given ?? [])])) {
    const before = isSingle ? made.pop() : undefined;
    if (before) await remove(before.own);
    const shown = await round.ask(senders, 'POST', path, { status: 201, shape, sent: comparable(kind, given) }, body);
    if (shown) made.push({ own: `${path}/${shown[key]}`, id: shown[key], given });
  }
  const last = made.at(-1);
  if (!last) return round.faults;
  const sent = comparable(kind, last.given);
  const read = await round.ask(of, 'GET', last.own, { status: 200, shape, sent });
  await list(round, kind, path, read ?? { id: last.id });

  const ids = { ...place, [key]: last.id };
  for (const { senders, body } of await written(update, ids, [{}])) {
    const cleared = Object.keys(update.blank ?? {}).filter((name) => /^(description|metadata)$/.test(name));
    const kept = senders.some((client) => writesBlank(client)) ? without(sent, cleared) : sent;
    await round.ask(senders, 'PATCH', last.own, { status: 200, shape, sent: kept }, body);
  }
  for (const { senders, body, given } of await written(update, ids, update.given ?? []))
    await round.ask(senders, 'PATCH', last.own, { status: 200, shape, sent: comparable(kind, given) }, body);
  for (const part of parts) await round.ask(of, 'DELETE', `${last.own}/${part}`, { status: 204 });
  await remove(last.own);
  await round.ask(of, 'GET', last.own, { status: 404 });
  return round.faults;

  async function written(writing: Writing, named: Members, ways: Members[]): Promise<Written[]> {
    const { needs = {}, blank = {} } = writing;
    const all = writings(of, ways, (client, way) => {
      const given = known(writing, client, { ...needs, ...way });
      const isEmpty = client === 'python' && Object.keys({ ...given, ...blank, ...writing.given?.[0] }).length === 0;
      // An update that could say nothing has no body.
      return isEmpty
        ? undefined
        : clients[client].body({ ...writing, blank: known(writing, client, blank) }, given, named);
    });
    return Promise.all(
      all.map(async ({ senders, body, way }) => {
        const filled = await world.filled({ body, given: { ...needs, ...way } });
        const isWritten = ([name]: [string, unknown]) => typeof filled.body === 'object' && name in filled.body;
        return {
          senders,
          body: filled.body,
          given: Object.fromEntries(Object.entries(filled.given).filter(isWritten)),
        };
      }),
    );
  }
}

/** Python and Ruby write some texts of updates as empty when they were not given: that clears them. */
const writesBlank = (client: ClientName) => client === 'python' || client === 'ruby';

const writePage = (client: ClientName, paging: Paging) => clients[client].page(paging);

/** @param one of the objects, as it is read by itself: in lists it is the same. */
async function list({ ask, note }: Round, kind: Kind, path: string, one: Members): Promise<void> {
  const { list: member, key, of = clientNames, shape, filters } = kind;
  if (!member) return;
  const page = (senders: ClientName[], query: string) =>
    ask(senders, 'GET', query ? `${path}?${query}` : path, {
      status: 200,
      shape: `uri ${member}* { ${shape} }${key ? '' : ' next_page_uri?'}`,
    });
  const compare = (listed: Members[] = []) => {
    const found = listed.find((it) => it[key ?? 'id'] === one[key ?? 'id']);
    if (found && JSON.stringify(found) !== JSON.stringify(one))
      note(`${path}: ${JSON.stringify(one)} is listed as ${JSON.stringify(found)}`);
  };
  if (key) return void compare((await page(of, ''))?.[member]);
  const [first] = of;
  const newest = await page(of, clients[first ?? 'go'].page({ limit: 1 }));
  compare(newest?.[member]);
  if (newest?.[member].length !== 1) note(`${path}: a page of one has ${newest?.[member].length}`);
  for (const { senders, body: query } of writings(of, [{ before: newest?.[member][0]?.id }], writePage))
    await page(senders, String(query));
  if (newest?.next_page_uri)
    await ask(of, 'GET', newest.next_page_uri, { status: 200, shape: `${member}* { ${shape} }` });
  if (!filters) return;
  const found = await page(filters, String(new URLSearchParams({ filter: `obj.id == "${one.id}"` })));
  if (found && (found[member].length !== 1 || found[member][0].id !== one.id)) note(`${path}: the filter finds others`);
}

/** What an answer shows as it was sent. Parts have other members where they are read. */
function comparable({ other = {} }: Pick<Kind, 'other'>, given: Members): Members {
  const isPlain = (value: unknown): boolean =>
    typeof value !== 'object' || value === null || (Array.isArray(value) && value.every(isPlain));
  const names = Object.keys(given).filter((name) => isPlain(given[name]) || same.includes(name));
  return Object.fromEntries(names.filter((name) => !(name in other)).map((name) => [name, given[name]]));
}
/** Parts that have the same members where they are written and read. */
const same = ['labels', 'headers', 'backends', 'resolves_to', 'certificate_management_policy'];

const without = (members: Members, names: string[]) =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));

/** Replaces, reads, writes back and removes a module. @param ids what the owner's path names. */
export async function runModule(
  world: ClientWorld,
  owner: ModuleOwner,
  ids: Members,
  module: Module,
): Promise<string[]> {
  const { ask, faults } = beginRound(world);
  const { shape, needs, given, isWrittenOtherwise, of = clientNames } = module;
  const path = `${at(owner.path, ids)}/${module.name}`;

  const ways = [...(needs ? [needs] : [undefined, {}]), ...given.map((way) => ({ ...needs, ...way }))];
  for (const { senders, body } of writings(of, ways, (client, way) => clients[client].module(way, ids)))
    await ask(senders, 'PUT', path, { status: 200, shape }, await world.filled(body));
  const read = await ask(of, 'GET', path, { status: 200, shape });
  // Ruby writes null as an object without members: who writes back what was read leaves those out.
  const writesBack = of.filter((client) => client !== 'ruby');
  if (read && !isWrittenOtherwise)
    for (const { senders, body } of writings(writesBack, [read as Members], (client, way) =>
      clients[client].module(way, ids),
    ))
      await ask(senders, 'PUT', path, { status: 200, shape }, body);
  await ask(of, 'DELETE', path, { status: 204 });
  await ask(of, 'GET', path, { status: 404 });
  return faults;
}
