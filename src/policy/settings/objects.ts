// What of a parsed document is an object.

/** Whether it has members: no list, no null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
