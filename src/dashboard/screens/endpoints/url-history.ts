// What the endpoints were called that this page has shown. Once one is offline, only its address leads to what is known of it.

/** More than anybody looks at before the page is loaded anew. */
const MAX_URLS = 1000;

const urls = new Map<string, string>();

export function rememberUrl(id: string, publicUrl: string): void {
  if (urls.size >= MAX_URLS) urls.clear();
  urls.set(id, publicUrl);
}

export function lastKnownUrl(id: string): string | undefined {
  return urls.get(id);
}
