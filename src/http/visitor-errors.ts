// Every error that a visitor may be shown: what went wrong on the way to the endpoint, or with the request itself.
// Numbers below 90000 are those that such errors have elsewhere too.

interface VisitorErrorRow {
  /** Of `ERR_GATEWAY_<number>`. */
  number: number;
  status: number;
  /** A whole sentence for people, the same for every visitor: nothing of the request is in it. */
  text: string;
  /** Seconds after which it may be tried again. */
  retryAfter?: number;
  /** The methods that are taken instead (RFC 9110, section 15.5.6). */
  allow?: string;
  /** The path at the same host where a visitor who was to sign in can try again. */
  retryPath?: string;
}

const row = (number: number, status: number, text: string, retryAfter?: number, allow?: string): VisitorErrorRow => ({
  number,
  status,
  text,
  retryAfter,
  allow,
});

/** The path of log-ins at every endpoint that has them. */
export const SIGN_IN_PATH = '/_gateway/login';

/** A log-in that did not succeed, and may be tried again. */
const signInRow = (...args: Parameters<typeof row>): VisitorErrorRow => ({ ...row(...args), retryPath: SIGN_IN_PATH });

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

export const visitorErrors = {
  // Where the name leads.
  unknownName: row(3200, 404, 'No endpoint has this name.'),
  noChallenge: row(
    90144,
    404,
    'No certificate authority is expected at this name, and no service may answer it: the gateway manages the certificate of the name, or no account has reserved it.',
  ),
  offline: row(90100, 502, 'The endpoint of this name is offline: its agent is not connected right now.'),
  elsewhere: row(90101, 502, 'The endpoint of this name is served by another node of this gateway.'),
  overloaded: row(90102, 503, 'There are too many requests for this endpoint right now.', 1),
  tooManyVisitors: row(90103, 503, 'This gateway has reached its limit of connections.', 1),
  unavailable: row(90104, 503, 'The gateway cannot look this name up right now.', 5),

  // What became of the request.
  upstreamRefused: row(8012, 502, 'The agent is online, but could not connect to the service behind it.'),
  dialFailed: row(90370, 502, 'The gateway could not connect to the service behind the endpoint.'),
  dialForbidden: row(
    90371,
    502,
    'The gateway does not connect to the address of the service behind the endpoint: its operator has not allowed it.',
  ),
  looped: row(90372, 508, 'The backend of the endpoint leads back to this gateway, in a circle.'),
  upstreamClosed: row(90105, 502, 'The service behind the endpoint closed the connection without an answer.'),
  upstreamInvalid: row(90106, 502, 'The service behind the endpoint sent an answer that is not valid HTTP.'),
  upstreamTimeout: row(90107, 504, 'The service behind the endpoint did not answer in time.'),

  responseNotSearched: row(
    90138,
    502,
    'The response of the service is larger than 256 KiB, or encoded, so that the traffic policy of this endpoint cannot search it.',
  ),

  // What stands before the endpoint.
  noRoute: row(90130, 404, 'The edge of this name has no route for this path.'),
  noBackend: row(90131, 502, 'The edge of this name has no backend for this request.'),
  noAnswer: row(90139, 404, 'No rule of the traffic policy of this endpoint answers this request.'),
  backendOffline: row(6528, 502, 'No tunnel of the backend is online right now.'),
  circuitOpen: row(3202, 503, 'The service behind the endpoint keeps failing; requests to it are paused for a while.'),
  webhookRefused: row(
    3204,
    403,
    'The request has no valid signature of the webhook provider that this endpoint admits.',
  ),
  addressRefused: row(3205, 403, 'Visitors from this address are not admitted.'),
  userAgentRefused: row(3211, 403, 'This kind of client is not admitted.'),
  badCredentials: row(3212, 401, 'This endpoint needs a user name and a password.'),
  badToken: row(3213, 401, 'This endpoint needs a valid token.'),
  rateLimited: row(3214, 429, 'There are too many requests; try again later.'),
  policyFailed: row(2238, 500, 'The traffic policy of this endpoint failed.'),
  internalOffline: row(90132, 502, 'The internal endpoint that the traffic policy names is not online.'),
  internalDenied: row(90362, 403, 'The traffic policy is not allowed to reach the internal endpoint that it names.'),
  signInRequired: row(90400, 401, 'This endpoint is for visitors who have signed in: open it in a browser to do that.'),
  signInForged: row(
    90401,
    403,
    'Another site has sent you here. Open this page from its own site, or type its address.',
  ),
  signInInsecure: row(90402, 403, 'Visitors sign in to this endpoint over HTTPS only.'),
  signInUnavailable: signInRow(
    5202,
    503,
    'The gateway cannot talk to the identity provider of this endpoint right now.',
    5,
  ),
  signInMisconfigured: row(2243, 500, 'The sign-in of this endpoint is not set up for this host.'),
  signInAway: row(90403, 503, 'The gateway cannot look up who is signed in right now.', 5),
  signInLate: signInRow(3119, 400, 'Signing in took longer than 15 minutes.'),
  signInStateInvalid: signInRow(
    5200,
    400,
    'The answer of the identity provider belongs to no log-in that was begun here.',
  ),
  signInNotBegun: signInRow(3121, 400, 'This browser has not begun the log-in that it brings the answer of.'),
  signInElsewhere: signInRow(3124, 400, 'The log-in was begun at another host.'),
  signInRepeated: signInRow(3123, 400, 'The answer of the identity provider was used already.'),
  signInCodeInvalid: signInRow(
    3122,
    400,
    'The identity provider says that its answer has expired, or was used already.',
  ),
  signInDenied: signInRow(3114, 403, 'You have not allowed this endpoint to know who you are.'),
  signInRefused: signInRow(3112, 502, 'The identity provider has answered with an error.'),
  signInClientRefused: row(3125, 502, 'The identity provider does not accept the client of this endpoint.'),
  signInNoIdToken: signInRow(5203, 502, 'The identity provider has not said who you are.'),
  signInTokenInvalid: signInRow(5204, 502, 'What the identity provider says of you cannot be trusted.'),
  signInNoUser: signInRow(5536, 502, 'The identity provider has not said by which id it knows you.'),
  signInNotAdmitted: signInRow(
    5511,
    403,
    'You have signed in, but this endpoint does not admit you. Sign in as somebody else.',
  ),
  signInNotHere: row(5207, 404, 'Nobody signs in at this endpoint.'),
  keysUnavailable: row(90133, 503, 'The keys for checking tokens are not available right now.', 5),
  signerUnavailable: row(90380, 503, 'The certificate for checking webhooks is not available right now.', 5),
  callFailed: row(90134, 502, 'A server that the traffic policy of this endpoint asks gave no usable answer.'),
  callTimedOut: row(90135, 504, 'A server that the traffic policy of this endpoint asks did not answer in time.'),
  tooManyCalls: row(90136, 503, 'The traffic policy of this endpoint asks other servers too often right now.', 1),
  moduleFailed: row(2300, 500, 'Something went wrong in the gateway.'),

  // What is wrong with the request.
  badRequestLine: row(90110, 400, 'The request line is not well formed.'),
  badTarget: row(90111, 400, 'The target of the request has a form that this gateway does not accept.'),
  ambiguousPath: row(
    90360,
    400,
    'Servers read the path of this request in different ways: send it without "//", "\\", "%2F", "%5C", and without ".." beside them.',
  ),
  badField: row(90112, 400, 'A header field is not well formed.'),
  badHost: row(90114, 400, 'The request must have one Host header, with the name of a host and perhaps a port.'),
  hostDiffers: row(90115, 400, 'The target of the request and its Host header name different hosts.'),
  badFraming: row(90116, 400, 'The length of the body is not stated in exactly one valid way.'),
  badConnection: row(
    90117,
    400,
    'The Connection header names a header field that must reach the service behind the endpoint.',
  ),
  badBody: row(90118, 400, 'The body of the request is not well formed.'),
  cutShort: row(90126, 400, 'The request was cut short.'),
  requestTimeout: row(90119, 408, 'The request did not arrive in time.'),
  targetTooLong: row(90120, 414, 'The target of the request is longer than 16 KiB.'),
  misdirected: row(90121, 421, 'This connection is not for requests to this name.'),
  headTooLarge: row(90122, 431, 'The head of the request is larger than 32 KiB.'),
  tooManyFields: row(90123, 431, 'The request has more than 200 header fields.'),
  connect: row(90124, 405, 'This gateway is not a forward proxy: it does not accept CONNECT.', undefined, METHODS),
  trace: row(90340, 405, 'This gateway does not accept TRACE.', undefined, METHODS),
  bodyTooLarge: row(
    90127,
    413,
    'The body of the request is larger than 1 MiB, the most whose signature can be checked.',
  ),
  bodyNotSearched: row(
    90137,
    413,
    'The body of the request is larger than 256 KiB, or encoded, so that the traffic policy cannot search it.',
  ),
  notAWebsocket: row(90128, 426, 'This endpoint accepts only WebSockets, over HTTP/1.1.'),
  badVersion: row(90125, 505, 'This gateway accepts HTTP/1.0, HTTP/1.1 and, over TLS, HTTP/2.'),
} satisfies Record<string, VisitorErrorRow>;

export type VisitorError = keyof typeof visitorErrors;
