// `GET /`: the map of collections.

import type { Exchange } from '../exchange.ts';
import { sendJson } from '../http/responses.ts';
import type { Row } from './handler.ts';

/** The collections of the API by name, and where each is: `{ uri, subresource_uris }`. */
export function rootOf(rows: Row[]): (exchange: Exchange) => void {
  const lists = rows.filter(
    ({ method, path, selection }) => method === 'GET' && !path.includes(':') && selection.includes(': nodes'),
  );
  return (exchange) => {
    const { baseUrl } = exchange;
    const uris = lists.map(({ path }) => [path.slice(1).replaceAll('/', '_'), baseUrl + path]);
    sendJson(exchange, 200, { uri: `${baseUrl}/`, subresource_uris: Object.fromEntries(uris) });
  };
}
