// The URLs of the endpoints that were shown in this page. The id of an endpoint changes when it goes offline, its URL
// does not.

import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../data/hooks/use-query.ts';
import { EndpointByUrl } from '../../generated/operations.ts';

/** The limit of the map; it is emptied when it is full. */
const MAX_URLS = 1000;

const urls = new Map<string, string>();

export function rememberUrl(id: string, publicUrl: string): void {
  if (urls.size >= MAX_URLS) urls.clear();
  urls.set(id, publicUrl);
}

export function lastKnownUrl(id: string): string | undefined {
  return urls.get(id);
}

/** The kinds of objects that an address may be. */
export const ADDRESS_KINDS = ['endpoint', 'offlineEndpoint', 'tunnelSession'];

/**
 * When an endpoint is gone, goes to the page of the object that has its URL now: what went offline is another object than what
 * was live, and so is what is live again.
 * @param pathOf the path of the page for that object.
 */
export function useRedirectToCurrentEndpoint(
  id: string,
  isMissing: boolean,
  pathOf: (kind: string, id: string) => string,
): void {
  const { route } = useLocation();
  const publicUrl = lastKnownUrl(id);
  const options = { kinds: ADDRESS_KINDS, skip: !isMissing || publicUrl === undefined };
  const { data } = useQuery(EndpointByUrl, { text: publicUrl ?? '' }, options);
  const next = data?.search?.find(
    (hit) =>
      (hit.kind === 'endpoint' || hit.kind === 'offlineEndpoint') && hit.title === publicUrl && hit.objectId !== id,
  );
  useEffect(() => {
    if (isMissing && next) route(pathOf(next.kind, next.objectId), true);
  }, [isMissing, next, route, pathOf]);
}
