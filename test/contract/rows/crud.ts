// The five operations that most kinds of object have: their rows, out of what is special of a kind.

import * as expected from '../expected.ts';
import type { World } from '../world.ts';
import { fresh, type Row, row, unique } from './rows.ts';

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
type Make = (world: World, got: any, own: any) => object;

export interface Kind {
  path: string;
  /** GraphQL's name of one and of many. */
  single: string;
  plural: string;
  /** The member of the list that holds the objects. */
  key: string;
  shape: string;
  make: Make;
  /** A body to create one with, and what of it is shown. */
  body(world: World, door: string): object;
  shown(world: World, door: string): object;
  /** What only the answer to the creation shows. */
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
  onCreation?(got: any): object;
  /** What to change, and what of it is shown. */
  change: object;
  changed?: object;
  /** What the world has of it, the newest first. */
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
  listed(world: World, got: any[]): object[];
}

/** Create, get, list, update and delete of one kind of object. */
export function crud(kind: Kind): Row[] {
  const { path, single, plural, key, shape, make, body, shown, onCreation, change, changed = change, listed } = kind;
  const capital = single.charAt(0).toUpperCase() + single.slice(1);
  const own = (world: World, door: string) => fresh(path, body(world, unique(door)))(world);
  return [
    row(`POST ${path}`, 201, `create${capital}`, {
      shape,
      body,
      answer: (world, got, door) => make(world, got, { ...shown(world, door), ...onCreation?.(got) }),
    }),
    row(`GET ${path}`, 200, plural, {
      shape,
      list: key,
      answer: (world, got) => expected.list(world, key, path, listed(world, got[key])),
    }),
    row(`GET ${path}/{id}`, 200, single, {
      shape,
      at: (world) => own(world, `${key}-get`),
      answer: (world, got, _, { id }) => ({ ...make(world, got, shown(world, '')), ...uniques(got, kind), id }),
    }),
    row(`PATCH ${path}/{id}`, 200, `update${capital}`, {
      shape,
      at: (world) => own(world, `${key}-patch`),
      body: () => change,
      answer: (world, got, _, { id }) => ({
        ...make(world, got, shown(world, '')),
        ...uniques(got, kind),
        ...changed,
        id,
      }),
    }),
    row(`DELETE ${path}/{id}`, 204, `delete${capital}`, { at: (world) => own(world, `${key}-delete`) }),
  ];
}

/** Members that had to be unique, which the request made up: their form was looked at when it was created. */
// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
function uniques(got: any, { single }: Kind): object {
  if (single === 'botUser') return { name: got.name };
  if (single === 'vault' || single === 'secret') return { name: got.name };
  if (single === 'reservedDomain') return { domain: got.domain };
  return {};
}

export const texts = { description: 'sensor 7 – Küche', metadata: '{"rack":7}' };
/** For kinds that can be made with nothing but texts. */
export const withTexts = { body: () => texts, shown: () => texts, change: { description: 'changed' } };
