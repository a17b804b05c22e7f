// What mutations under aliases have made.

/**
 * @param {Record<string, Record<string, any>>} payloads by their aliases
 * @returns {Record<string, any>} what each payload is about: its first member
 */
export function objectsOf(payloads) {
  return Object.fromEntries(Object.entries(payloads).map(([alias, payload]) => [alias, Object.values(payload)[0]]));
}
