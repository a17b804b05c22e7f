// What an operation that takes a body is: a body that is right, and the type of every member.

import { type Ids, type Operation, operation } from '../doors.ts';
import type { World } from '../world.ts';

export type Type =
  | 'string'
  | 'id'
  | 'strings'
  | 'ids'
  | 'boolean'
  | 'timestamp'
  | 'uint32'
  | 'number'
  | 'object'
  | 'objects'
  | 'labels'
  | 'weights'
  | 'int'
  | 'enum';

export interface Writing extends Operation {
  ids(world: World): Ids;
  /** A body with nothing wrong in it. */
  good(world: World): object;
  /** The type of every member, by its path. */
  members: Record<string, Type>;
}

export const none = () => ({});
export const the = (kind: keyof World['ids']) => (world: World) => ({ id: world.ids[kind] });

export function writing(
  call: string,
  field: string,
  members: Writing['members'],
  good: Writing['good'] = none,
  ids: Writing['ids'] = none,
): Writing {
  const status = call.endsWith('/update') ? 204 : call.startsWith('POST') ? 201 : 200;
  return { ...operation(call, status, field), ids, good, members };
}

export const texts = { description: 'string', metadata: 'string' } as const;
