// Errors of captured requests, their replays and the request log: rows of the error table.

import { conflict, type ErrorRow, invalid } from './error-row.ts';

export const captureErrors = {
  capturedElsewhere: [
    90230,
    503,
    'UNAVAILABLE',
    'Another node of this gateway serves this endpoint, and this one has no links to others: ask that node.',
  ],
  notYourCapture: [
    90373,
    403,
    'FORBIDDEN',
    'Somebody else switched this capture on. Only that user, the owner of the credential of the endpoint’s agent, and admins may see it, change it or replay its requests.',
  ],
  bodiesHidden: [
    90434,
    403,
    'FORBIDDEN',
    'The bodies of captured requests are hidden from you, and you may not replay them: ask an admin for the right to read captured bodies.',
  ],
  captureNeedsHttp: conflict(
    90231,
    'Only requests of http and https endpoints can be captured; this is a {proto} endpoint.',
  ),
  tooManyCaptures: conflict(90435, 'An account may have at most {max} captures that are on: stop one first.'),
  bodyBytesRange: invalid(90232, '{member} must be from 0 to {max}.'),
  captureMinutesRange: invalid(90233, '{member} must be from 1 to {max}.'),
  tooManyRedactedHeaders: invalid(90234, '{member} may name at most {max} header fields.'),
  badRedactedHeader: invalid(
    90235,
    '{member} must be the name of a header field: 1 to {max} letters, digits and hyphens.',
  ),
  tooManyStatuses: invalid(90430, '{member} may have at most {max} statuses.'),
  badStatusClass: invalid(90431, '{member} may have 1 to 5, the first digits of a status, and 0 for no answer.'),
  logTextTooLong: invalid(90432, '{member} may have at most {max} characters.'),
  badTime: invalid(90433, '{member} must be a time such as "2026-01-31T12:00:00Z".'),
  replayBodyMissing: conflict(
    90236,
    'The body of this request was not recorded completely: give one in "bodyBase64", or "" for none.',
  ),
  replayUpgraded: conflict(
    90237,
    'A connection that switched to another protocol, such as WebSocket, cannot be replayed.',
  ),
  replayClientCertificate: conflict(
    90238,
    'Visitors of this endpoint show a client certificate (mutual TLS). The gateway has none, so it cannot replay the request.',
  ),
  badReplayMethod: invalid(90239, '{member} must be a method of HTTP such as GET, of 1 to {max} letters; not CONNECT.'),
  badReplayPath: invalid(
    90240,
    '{member} must begin with "/" and be at most {max} printable ASCII characters, without "#".',
  ),
  tooManyReplayHeaders: invalid(90241, '{member} may have at most {max} header fields.'),
  badReplayHeader: invalid(
    90242,
    '{member} must be a header field: a name of letters, digits and hyphens, and one line.',
  ),
  replayHeaderNotCaptured: invalid(
    90243,
    '{member}: the captured request has no (further) "{name}" with a value to reuse; give a value.',
  ),
  replayHost: invalid(90244, '{member}: a replay always uses the Host of the captured request; leave the field out.'),
  badBase64: invalid(90245, '{member} must be Base64 (RFC 4648).'),
  tooManyReplays: [
    90246,
    429,
    'RATE_LIMITED',
    'This account already has {max} replays running; try again when one of them has ended.',
  ],
  replayTimeout: [90247, 503, 'UNAVAILABLE', 'The replay got no response within {seconds} s.'],
  replayNoAnswer: [90248, 503, 'UNAVAILABLE', 'The replay got no response: {reason}.'],
  tooMuchCaptured: invalid(
    90249,
    'One response has at most {max} bytes of headers, paths and bodies of captured requests: ask for fewer requests at once.',
  ),
} as const satisfies Record<string, ErrorRow>;
