// Finding things by a piece of what is known of them, in one statement over what an account has.

import type { Db } from '../../../store/database/client.ts';
import { Prisma } from '../../../store/generated/prisma/client.ts';
import { isId } from '../../../store/ids.ts';
import { registeredResources } from '../../collections/nodes.ts';
import type { SearchColumns } from '../../resource.ts';

export interface SearchHit {
  kind: string;
  id: string;
  title: string;
  detail: string;
}

const SHOWN_MAX = 200;
/** Of each kind, so many are looked at, the newest first: no index helps to find a piece of a text. */
export const LOOKED_AT_MAX = 10_000;
interface SearchedKind extends SearchColumns {
  kind: string;
}

/** What the resources declare, in the order in which people look for their kinds. */
function searchedKinds(): SearchedKind[] {
  return registeredResources()
    .flatMap(({ kind, search }) => (search ? [{ kind, ...search }] : []))
    .sort((a, b) => a.rank - b.rank);
}

/**
 * What has all words in its id, its names, addresses and notes together; upper and lower case are the same. The object with
 * just this id comes first, however old it is; then one kind after the other, each with the newest first, of the newest
 * 10,000 of the kind.
 * @param first how many, at the most.
 */
export function search(db: Db, accountId: string, words: readonly string[], first: number): Promise<SearchHit[]> {
  const text = words.length === 1 ? (words[0] ?? '') : '';
  // Without an id to look for, the newest that fit are found without sorting all that do.
  const isAnId = isId(text.slice(0, text.indexOf('_')), text);
  const order = (id: Prisma.Sql) => (isAnId ? Prisma.sql`(${id} = ${text}) DESC,` : Prisma.empty);
  const patterns = words.map(patternOf);
  const rowsOf = ({ table, where = 'true' }: SearchedKind) => {
    const rows = Prisma.sql`SELECT * FROM ${Prisma.raw(table)} t WHERE account_id = ${accountId} AND ${Prisma.raw(where)}`;
    if (!isAnId) return Prisma.sql`${rows} ORDER BY id DESC LIMIT ${LOOKED_AT_MAX}`;
    return Prisma.sql`
      (${rows} AND id = ${text}) UNION ALL (${rows} AND id <> ${text} ORDER BY id DESC LIMIT ${LOOKED_AT_MAX})`;
  };
  const branches = searchedKinds().map(
    (place, rank) => Prisma.sql`
      (SELECT ${rank}::int AS rank, ${place.kind}::text AS kind, t.id AS id,
         left(coalesce(nullif(${Prisma.raw(place.title)}, ''), t.id), ${SHOWN_MAX}) AS title,
         left(coalesce(${Prisma.raw(place.detail)}, ''), ${SHOWN_MAX}) AS detail
       FROM (${rowsOf(place)}) t ${Prisma.raw(place.join ?? '')}
       WHERE concat_ws(E'\n', t.id, ${Prisma.raw(place.texts.join(', '))}) ~* ALL(${patterns})
       ORDER BY ${order(Prisma.sql`t.id`)} t.id DESC LIMIT ${first})`,
  );
  return db.$queryRaw<SearchHit[]>`
    SELECT kind, id, title, detail FROM (${Prisma.join(branches, ' UNION ALL ')}) AS hits
    ORDER BY ${order(Prisma.sql`id`)} rank, id DESC LIMIT ${first}`;
}

/** A regular expression for a text. Not every database's locale knows the cases of all letters, so they are spelt out. */
function patternOf(text: string): string {
  const cases = (letter: string) =>
    `[${[letter, letter.toLowerCase(), letter.toUpperCase()].filter((one) => [...one].length === 1).join('')}]`;
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/[^\P{L}a-zA-Z]/gu, cases);
}
