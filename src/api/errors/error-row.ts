// What a row of the error table is.

/** What GraphQL clients find in `extensions.code`. */
export type Code =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'BAD_USER_INPUT'
  | 'CONFLICT'
  | 'RATE_LIMITED'
  | 'UNAVAILABLE'
  | 'INTERNAL';

/** The number behind `ERR_GATEWAY_`, the HTTP status, the code, and the text with its `{parameters}`. */
export type Row = readonly [number: number, status: number, code: Code, text: string];

export const bad = (number: number, text: string, status = 400): Row => [number, status, 'BAD_USER_INPUT', text];
export const conflict = (number: number, text: string): Row => [number, 409, 'CONFLICT', text];
