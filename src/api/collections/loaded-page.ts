// Pages of which the ids are read first, and the objects then, each by its kind.

import { type FieldNode, type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';
import type { ObjectRow } from '../builder/builder.ts';
import type { Context } from '../context.ts';
import { cursorOf } from './cursor.ts';
import { resourceOf } from './nodes.ts';
import type { ConnectionPage } from './page.ts';
import { loadRow, rowLoadOf } from './row-loads.ts';

/** Where in a page its rows are. */
export const ROWS_OF_PAGE: [string, ...string[]][] = [['nodes'], ['edges', 'node']];

const viewRows = new WeakMap<ObjectRow, ObjectRow>();

/** What a view says of an object that was loaded for a page of it: the columns that its list names. Undefined of any other object. */
export function viewRowOf<Columns>(object: ObjectRow): Columns | undefined {
  return viewRows.get(object) as Columns | undefined;
}

/**
 * A page with its objects, which may be of several kinds: as many statements as there are kinds, and what each needs. What goes while it
 * is read is left out.
 * @param page with rows that have their ids, and the column that it is ordered by.
 */
export async function loadPage(
  page: ConnectionPage,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<ConnectionPage> {
  if (neededOf(info) !== 'rows') return page;
  const found = await Promise.all(
    page.rows.map(async (row) => {
      const resource = resourceOf(row.id);
      const object = resource && (await loadRow(context, row.id, rowLoadOf(resource, context, info, ROWS_OF_PAGE)));
      if (!object) return [];
      viewRows.set(object, row);
      return [{ object, cursor: cursorOf(row, page.order) }];
    }),
  );
  const shown = found.flat();
  return { ...page, rows: shown.map(({ object }) => object), cursors: shown.map(({ cursor }) => cursor) };
}

/** The members of a page that are known without its rows, and those of an object that its id tells. */
const WITHOUT_IDS: ReadonlySet<string> = new Set(['totalCount', 'uri', '__typename']);
const BY_ID: ReadonlySet<string> = new Set(['id', '__typename']);

/** What has to be read for what a document asks of a list. */
export function neededOf({ fieldNodes, fragments }: GraphQLResolveInfo): 'count' | 'ids' | 'rows' {
  const fieldsOf = ({ selectionSet }: { selectionSet?: SelectionSetNode | undefined }): FieldNode[] =>
    (selectionSet?.selections ?? []).flatMap((node) => {
      if (node.kind === Kind.FIELD) return [node];
      return fieldsOf(node.kind === Kind.INLINE_FRAGMENT ? node : (fragments[node.name.value] ?? {}));
    });
  const below = (fields: readonly FieldNode[], name: string) =>
    fields.filter((field) => field.name.value === name).flatMap(fieldsOf);
  const ofPage = fieldNodes.flatMap(fieldsOf);
  const ofRows = [...below(ofPage, 'nodes'), ...below(below(ofPage, 'edges'), 'node')];
  if (ofRows.some(({ name }) => !BY_ID.has(name.value))) return 'rows';
  return ofPage.every(({ name }) => WITHOUT_IDS.has(name.value)) ? 'count' : 'ids';
}
