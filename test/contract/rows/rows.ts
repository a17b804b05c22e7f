// What a row of the tables of operations is.

import { type Ids, type Operation, operation } from '../doors.ts';
import type { World } from '../world.ts';

/** One documented operation, with a request and its answer. */
export interface Row extends Operation {
  title: string;
  /** What the path names. Called once for both doors, or, for a delete, once for each. */
  at(world: World): Ids | Promise<Ids>;
  /** `door` makes what must be unique so. */
  body?(world: World, door: string, ids: Ids): object;
  /** The whole answer; undefined when there is none. `got` is what came, for its id. */
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
  answer?(world: World, got: any, door: string, ids: Ids): unknown;
  /** Set when it can be done only once to what the path names, so that each door has its own. */
  atEach?: boolean;
  /** Set when what is deleted is a part of something, which nobody can read by itself. */
  isPart?: boolean;
  /** Set when its path is another name of one of REST's, to which the URIs belong that GraphQL shows. */
  aliasOf?: string;
}

type Own = Partial<
  Pick<Row, 'at' | 'body' | 'answer' | 'shape' | 'list' | 'dialect' | 'atEach' | 'isPart' | 'aliasOf'>
> & { note?: string };

export function row(call: string, status: Row['status'], field: string, { note, shape, list, ...own }: Own = {}): Row {
  const title = [call, note && `(${note})`, own.dialect && `in the ${own.dialect} dialect`].filter(Boolean).join(' ');
  return { ...operation(call, status, field, shape, list), title, at: () => ({}), ...own };
}

/** Ids of the world's own object, for a path with one `{id}`. */
export const the = (kind: keyof World['ids']) => (world: World) => ({ id: world.ids[kind] });

/** Makes an object for the row alone. */
export const fresh = (path: string, body: object | ((world: World) => object)) => async (world: World) => {
  const made = await world.create(path, typeof body === 'function' ? body(world) : body);
  return { id: made.id as string };
};

let made = 0;
/** A text that no other has. */
export const unique = (text: string) => `${text}-${++made}`;

const edges = new WeakMap<World, Promise<{ id: string }>>();

/** A route for whoever does not look at what it matches; `settings` are put into its modules. */
export const anyRoute =
  (settings: (world: World) => object = () => ({})) =>
  async (world: World) => {
    const ofWorld = edges.get(world) ?? fresh('/edges/https', {})(world);
    edges.set(world, ofWorld);
    const { id: edge_id } = await ofWorld;
    const route = { match_type: 'exact_path', match: unique('/any'), ...settings(world) };
    const { id } = await world.create(`/edges/https/${edge_id}/routes`, route);
    return { edge_id, id: id as string };
  };

/** A route of an edge of its own; `settings` are put into its modules. */
export const freshRoute =
  (settings: (world: World) => object = () => ({})) =>
  async (world: World) => {
    const { id } = await fresh('/edges/https', {})(world);
    const route = { match_type: 'path_prefix', match: '/', ...settings(world) };
    const { id: routeId } = await world.create(`/edges/https/${id}/routes`, route);
    return { edge_id: id, id: routeId as string };
  };
