// A thousand credentials of one second, and every way to page through them.

import { newId } from '../../../src/store/ids.ts';
import type { Account, Owner, TestGateway } from './gateway.ts';

const ROWS = 1000;

/** Inserts them in no particular order. @returns their ids, the newest first. */
export async function makeThousand(gateway: TestGateway, { accountId, ownerId }: Account): Promise<string[]> {
  const createdAt = new Date();
  // A prime step visits all; ids were made in the order of their numbers.
  const made = Array.from({ length: ROWS }, () => newId('cr', createdAt.getTime()));
  const shuffled = made.map((_, index) => made[(index * 619) % ROWS] ?? '');
  await gateway.app.prisma.credential.createMany({
    data: shuffled.map((id) => ({ id, accountId, ownerId, digest: id, createdAt })),
  });
  return made.reverse();
}

/** Follows `next_page_uri` as it is. @returns the ids of each page. */
export async function pagesByRest({ call }: Owner, limit: number): Promise<string[][]> {
  const pages: string[][] = [];
  for (let uri: string | null = `/credentials?limit=${limit}`; uri !== null; ) {
    const { body } = await call('GET', uri);
    pages.push(body.credentials.map(({ id }: { id: string }) => id));
    uri = body.next_page_uri;
  }
  return pages;
}

/** @returns the ids of each page in the order of reading; each page has the newest first. */
export async function pagesByGraphql({ graphql }: Owner, size: number, backwards: boolean): Promise<string[][]> {
  const query = backwards
    ? 'query ($size: Int, $at: String) { list: credentials(last: $size, before: $at) { nodes { id } pageInfo { more: hasPreviousPage at: startCursor } } }'
    : 'query ($size: Int, $at: String) { list: credentials(first: $size, after: $at) { nodes { id } pageInfo { more: hasNextPage at: endCursor } } }';
  const pages: string[][] = [];
  for (let at: string | null = null, more = true; more; ) {
    const { body } = await graphql(query, { size, at });
    const { nodes, pageInfo } = body.data.list;
    pages.push(nodes.map(({ id }: { id: string }) => id));
    ({ at, more } = pageInfo);
  }
  return pages;
}
