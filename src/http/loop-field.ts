// The field of HTTP by which a request that comes back is known (RFC 8586).

/** The name of the field, in lower case. */
export const LOOP_FIELD = 'cdn-loop';
/** How this gateway names itself there, and to servers that it asks. */
export const GATEWAY_TOKEN = 'tunnel-gateway';
/** How often a request may have come through a gateway before it is taken for one that goes in a circle. */
export const LOOPS_MAX = 3;

/** How often a request has come through a gateway before. @param values of its fields `CDN-Loop`. */
export function countLoops(values: readonly string[]): number {
  const identifiers = values.join(',').split(',');
  return identifiers.filter((identifier) => identifier.split(';', 1)[0]?.trim() === GATEWAY_TOKEN).length;
}
