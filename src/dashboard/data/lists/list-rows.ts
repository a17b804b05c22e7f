// Merges pages into a list. A cursor is the id of a row. Lists are sorted by id, the newest first, unless the user asked
// for another order.

/** The least that a row of a list has. */
export interface WithId {
  id: string;
}

export interface ListPage<Row> {
  nodes: readonly Row[];
  pageInfo: { hasNextPage: boolean; endCursor?: string | null };
  totalCount?: number;
}

/**
 * Merges a page that starts after the id `after`, or at the top without one. The page replaces the rows in its range;
 * the others stay. Rows that did not change keep their identity, so that they are not rendered again.
 */
export function mergePage<Row extends WithId>(
  rows: readonly Row[],
  { nodes, pageInfo }: ListPage<Row>,
  after?: string,
): readonly Row[] {
  const lowest = nodes.at(-1)?.id ?? after ?? '';
  const before = after === undefined ? [] : rows.filter(({ id }) => id >= after);
  const rest = pageInfo.hasNextPage ? rows.filter(({ id }) => id < lowest) : [];
  const known = new Map(rows.map((row) => [row.id, row]));
  const covered = keepUnchanged(nodes, known);
  // More new rows than fit on a page leave a gap before the rows that were known, so those are dropped.
  const hasGap = after === undefined && rest.length > 0 && !nodes.some(({ id }) => known.has(id));
  return hasGap ? covered : [...before, ...covered, ...rest];
}

/**
 * The same for a list in another order, where a row is before another only because a page said so: the page replaces the
 * rows between `after` and the last of its rows that was known.
 */
export function mergeOrderedPage<Row extends WithId>(
  rows: readonly Row[],
  { nodes, pageInfo }: ListPage<Row>,
  after?: string,
): readonly Row[] {
  const known = new Map(rows.map((row) => [row.id, row]));
  const covered = keepUnchanged(nodes, known);
  const inPage = new Set(nodes.map(({ id }) => id));
  const begin = after === undefined ? 0 : rows.findIndex(({ id }) => id === after) + 1;
  const end = rows.findLastIndex(({ id }, index) => index >= begin && inPage.has(id)) + 1;
  const before = rows.slice(0, begin).filter(({ id }) => !inPage.has(id));
  // Where no row of the page was known, what follows it is not known either.
  const rest = pageInfo.hasNextPage && end > 0 ? rows.slice(end).filter(({ id }) => !inPage.has(id)) : [];
  return [...before, ...covered, ...rest];
}

function keepUnchanged<Row extends WithId>(nodes: readonly Row[], known: ReadonlyMap<string, Row>): Row[] {
  return nodes.map((node) => {
    const previous = known.get(node.id);
    return previous && JSON.stringify(previous) === JSON.stringify(node) ? previous : node;
  });
}

/** The first and the last index of visible rows that are in `stale`; null if there is none. */
export function staleRange<Row extends WithId>(
  rows: readonly Row[],
  stale: ReadonlySet<string>,
  [from, to]: readonly [number, number],
): readonly [number, number] | null {
  let first = -1;
  let last = -1;
  for (let index = Math.max(0, from); index < Math.min(to, rows.length); index += 1) {
    if (!stale.has(rows[index]?.id ?? '')) continue;
    if (first < 0) first = index;
    last = index;
  }
  return first < 0 ? null : [first, last];
}

/** Whether two ids have the same prefix, so that they are of the same kind of object. */
export function isSameKind(id: string, other: string): boolean {
  return id.slice(0, id.lastIndexOf('_')) === other.slice(0, other.lastIndexOf('_'));
}
