// What the endpoints were called that this page has shown. Once one is offline, only its address leads to what is known of it.

/** More than anybody looks at before the page is loaded anew. */
const MOST = 1000;

const addresses = new Map<string, string>();

export function rememberAddress(id: string, publicUrl: string): void {
  if (addresses.size >= MOST) addresses.clear();
  addresses.set(id, publicUrl);
}

export function rememberedAddress(id: string): string | undefined {
  return addresses.get(id);
}
