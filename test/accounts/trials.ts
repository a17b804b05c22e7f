// What is tried with another account's things: each operation with them, and with what never existed.

import { newId } from '../../src/store/ids.ts';
import { newZone } from './fresh-names.ts';
import { argumentsOf, changed, type Field, type Place, placesOf } from './operations.ts';
import type { Holder } from './sample-resources.ts';

/** Something of the other account for a place, and what to put there that never existed. */
export type Pair = [theirs: string, never: string];

function pairsFor({ role, kinds }: Place, other: Holder): Pair[] {
  const neverZone = newZone();
  if (role === 'hostport')
    return [other.hostport, `free.${other.zone}:443`].map((hostport) => [
      hostport,
      hostport.replace(other.zone, neverZone),
    ]);
  return kinds.map((kind) => {
    const id = other.ids[kind] ?? '';
    return [id, role === 'cursor' ? twin(id) : newId(id.slice(0, id.indexOf('_')))];
  });
}

/** An id that never was, made in the same instant: it has the same place among all others. */
function twin(id: string): string {
  return id.slice(0, -8) + newId('op').slice(-8);
}

/** One operation with something of the other account's named in it, and with what never existed in the same places. */
export interface Trial {
  field: Field;
  places: Place[];
  pairs: Pair[];
  theirs: object;
  never: object;
}

/** Who asks, and whose things are asked for. */
interface Sides {
  asking: Holder;
  other: Holder;
}

/** Each place of an operation with something of the other account's in it, and all of them together. */
export function* trials(field: Field, { asking, other }: Sides): Generator<Trial> {
  const all = placesOf(field);
  const put = (value: unknown, { isList }: Place) => (isList ? [value] : value);
  const of = (places: Place[], pairs: Pair[]): Trial => {
    const own = argumentsOf(field, asking);
    const [theirs = {}, never = {}] = [0, 1].map((which) =>
      places.reduce((values, place, index) => changed(values, place.path, put(pairs[index]?.[which], place)), own),
    );
    return { field, places, theirs, never, pairs };
  };
  for (const place of all) for (const pair of pairsFor(place, other)) yield of([place], [pair]);
  // Things that belong together, as an edge and its route do, named together.
  const together = all.filter(({ role }) => role === 'id');
  if (together.length > 1)
    yield of(
      together,
      together.map((place) => pairsFor(place, other)[0] as Pair),
    );
}
