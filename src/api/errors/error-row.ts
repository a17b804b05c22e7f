// What a row of the error table is.

/** What GraphQL clients find in `extensions.code`. */
export type GraphqlErrorCode =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'BAD_USER_INPUT'
  | 'CONFLICT'
  | 'RATE_LIMITED'
  | 'UNAVAILABLE'
  | 'PERSISTED_QUERY_NOT_FOUND'
  | 'INTERNAL';

/** The number behind `ERR_GATEWAY_`, the HTTP status, the code, and the text with its `{parameters}`. */
export type ErrorRow = readonly [number: number, status: number, code: GraphqlErrorCode, text: string];

export const invalid = (number: number, text: string, status = 400): ErrorRow => [
  number,
  status,
  'BAD_USER_INPUT',
  text,
];
export const conflict = (number: number, text: string): ErrorRow => [number, 409, 'CONFLICT', text];
