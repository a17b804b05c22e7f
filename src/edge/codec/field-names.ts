// What the name of a field in a request means to those behind us.

/** What frames a message, what is for one hop, and what only the gateway may say. */
const TRUSTED =
  /^(?:content-length|transfer-encoding|keep-alive|proxy-.*|http2-settings|x-forwarded-.*|x-real-ip|gateway-.*)$/;

/** Whether a server that takes `_` for `-`, as CGI does, would read a field's name as one that it trusts. */
export function readsAsTrusted(name: string): boolean {
  return TRUSTED.test(name.toLowerCase().replaceAll('_', '-'));
}
