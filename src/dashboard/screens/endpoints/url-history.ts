// The URLs of the endpoints that were shown in this page. The id of an endpoint changes when it goes offline, its URL
// does not.

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
