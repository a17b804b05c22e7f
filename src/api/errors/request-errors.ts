// Errors of requests that the listener cannot read, and of callers who ask for too much: rows of the error table.

import { conflict, type ErrorRow, invalid } from './error-row.ts';

export const requestErrors = {
  malformedRequest: invalid(90310, 'The request is not valid HTTP/1.1: {reason}.'),
  headTooLarge: invalid(90311, 'The head of a request must be at most {max} bytes.', 431),
  requestTooSlow: invalid(90312, 'The request did not arrive in time.', 408),
  expectationFailed: invalid(90313, 'The only supported value of the Expect header is "100-continue".', 417),
  preconditionFailed: invalid(
    90315,
    'Nothing was done: objects have no entity tags, so that no value of If-Match but "*" can be true. Leave the header out.',
    412,
  ),
  httpVersionNotSupported: invalid(90316, 'The API accepts HTTP/1.0 and HTTP/1.1.', 505),
  // Clients know it by this text; what comes next is the same request with its document, so that it is no failure.
  batchedOperations: invalid(
    90337,
    'Operations are sent one by one: the body is one object with query and variables, not a list of them.',
  ),
  persistedQueryNotFound: [90317, 200, 'PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound'],
  webSocketElsewhere: invalid(
    90318,
    'There are no WebSockets at this path. GraphQL has them at {path}, with the subprotocol {protocol}.',
  ),
  webSocketHandshake: invalid(
    90319,
    'WebSockets here speak the subprotocol {protocol}, as the library graphql-ws does: GET with "Sec-WebSocket-Protocol: {protocol}" and "Sec-WebSocket-Version: {version}". Subscriptions can also be had by POST with "Accept: text/event-stream".',
  ),
  originNotAllowed: [
    90327,
    403,
    'FORBIDDEN',
    'Pages of {origin} may not open WebSockets here. The operator can allow it with CORS_ORIGINS.',
  ],
  tooManySockets: [
    90328,
    429,
    'RATE_LIMITED',
    'An API key or a browser session may have {max} WebSockets at once; close one first.',
  ],
  tooManyOperations: [
    90329,
    429,
    'RATE_LIMITED',
    'A WebSocket may have {max} operations under way at once; wait for one to end.',
  ],
  notAcceptable: invalid(
    90335,
    'Nothing that the Accept header names is spoken here: answers are application/graphql-response+json or application/json, streams of subscriptions text/event-stream; or use a WebSocket with graphql-transport-ws.',
    406,
  ),
  streamNotAcceptable: invalid(
    90336,
    'A subscription is answered with a stream: send "Accept: text/event-stream", or use a WebSocket with graphql-transport-ws. Streams in multipart/mixed are not spoken.',
    406,
  ),
  noSuchStream: [
    90338,
    404,
    'NOT_FOUND',
    'This process has no stream with this token for this API key: PUT gives a token, which is good for one stream, opened with GET within 15 seconds.',
  ],
  streamTaken: conflict(90339, 'The stream with this token is open already.'),
  operationIdTaken: conflict(90340, 'Another operation on this stream has this operationId.'),
  tooManyStreams: [
    90341,
    429,
    'RATE_LIMITED',
    'An API key may have {max} streams of many operations at once; end one first.',
  ],
  strangerRateLimited: [
    90301,
    429,
    'RATE_LIMITED',
    'Without a valid API key, an address may send {limit} requests a minute; try again in {seconds} s.',
  ],
  introspectionNeedsKey: [
    90300,
    401,
    'UNAUTHENTICATED',
    'Without an API key, only the standard introspection query is possible, or a small one: no aliases, no field twice, at most {max} fields in the response.',
  ],
  tooManySubscriptions: [
    90314,
    429,
    'RATE_LIMITED',
    'An API key or a browser session may have {max} subscriptions at once; end one first.',
  ],
  subscriptionOver: [
    90304,
    503,
    'UNAVAILABLE',
    'The subscription has ended, because the rights of its caller changed or cannot be looked up right now. Subscribe again.',
  ],
  tooMuchHeavyWork: [
    90302,
    429,
    'RATE_LIMITED',
    '{max} expensive operations of this account, such as searches, are already waiting; try again in {seconds} s.',
  ],
  tooManyPolicyTrials: [
    90364,
    429,
    'RATE_LIMITED',
    'This account may try traffic policies that ask servers, or use stored secrets, {max} times a minute; try again in {seconds} s.',
  ],
  tooManyPolicies: [
    90363,
    429,
    'RATE_LIMITED',
    'Too many traffic policies of this account are waiting to be compiled; try again.',
  ],
  databaseFull: [
    90305,
    503,
    'UNAVAILABLE',
    'Nothing can be written right now, because the disk of the database is full or its server is a standby. Reads and tunnels continue.',
  ],
  queryTooSlow: [90303, 503, 'UNAVAILABLE', 'The database took too long to answer; ask for less, or try again later.'],
  emptyTrafficRange: invalid(90420, 'The time must begin before it ends: from is {from}, and to is {to}.'),
  trafficNotKept: invalid(90421, 'Figures of the step {step} are kept for {kept}: {advice}.'),
  tooManyTrafficPoints: invalid(90422, 'There may be at most {max} points at once; these are {points}: {advice}.'),
  edgeWithoutName: conflict(90460, 'The edge has no name to visit it by; give it one first.'),
  edgeTestPath: invalid(90461, '{member} must be a path such as /health, in ASCII and at most {max} bytes.'),
  tooManyEdgeTests: [
    90462,
    429,
    'RATE_LIMITED',
    'An account may test its edges {limit} times a minute; try again in {seconds} s.',
  ],
} satisfies Record<string, ErrorRow>;
