// `GET /`: the map of collections.

import type { Row } from './rest.ts';

/** The collections of the API by name, and where each is: `{ uri, subresource_uris }`. */
export function rootOf(rows: Row[]): (baseUrl: string) => object {
  const lists = rows.filter(
    ({ method, path, selection }) => method === 'GET' && !path.includes(':') && selection.includes(': nodes'),
  );
  return (baseUrl) => ({
    uri: `${baseUrl}/`,
    subresource_uris: Object.fromEntries(lists.map(({ path }) => [path.slice(1).replaceAll('/', '_'), baseUrl + path])),
  });
}
