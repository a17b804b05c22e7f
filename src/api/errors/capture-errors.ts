// Errors of captured requests and their replays: rows of the error table.

import { bad, conflict, type Row } from './error-row.ts';

export const captureErrors = {
  capturedElsewhere: [
    90230,
    503,
    'UNAVAILABLE',
    'Another node of this gateway serves this endpoint. Each node captures for itself: ask that one.',
  ],
  notYourCapture: [
    90373,
    403,
    'FORBIDDEN',
    'Somebody else switched this capture on. Only they, the owner of the credential that the endpoint’s agent is ' +
      'connected with, and admins may look at it, change it or send its requests again.',
  ],
  captureNeedsHttp: conflict(90231, 'Only requests can be captured: of endpoints of http and https, not of {proto}.'),
  bodyBytesRange: bad(90232, '{member} must be from 0 to {max}.'),
  captureMinutesRange: bad(90233, '{member} must be from 1 to {max}.'),
  tooManyRedactedHeaders: bad(90234, '{member} may name at most {max} header fields.'),
  badRedactedHeader: bad(90235, '{member} must be the name of a header field: 1 to {max} letters, digits and hyphens.'),
  replayBodyMissing: conflict(
    90236,
    'The body of this request was not kept whole: give one in "bodyBase64", or "" for none.',
  ),
  replayUpgraded: conflict(90237, 'A connection that went over to another protocol, as to WebSocket, is not replayed.'),
  replayClientCertificate: conflict(
    90238,
    'Visitors of this endpoint show a certificate (mutual TLS), which the gateway has none of: it is not replayed.',
  ),
  badReplayMethod: bad(90239, '{member} must be a method of HTTP such as GET, of 1 to {max} letters; not CONNECT.'),
  badReplayPath: bad(
    90240,
    '{member} must begin with "/" and be at most {max} printable ASCII characters, without "#".',
  ),
  tooManyReplayHeaders: bad(90241, '{member} may have at most {max} header fields.'),
  badReplayHeader: bad(90242, '{member} must be a header field: a name of letters, digits and hyphens, and one line.'),
  replayHeaderNotCaptured: bad(
    90243,
    '{member}: the request had no (further) "{name}" whose value could be kept; give a value.',
  ),
  replayHost: bad(90244, '{member}: a replay goes to the Host that the request had; leave the field out.'),
  badBase64: bad(90245, '{member} must be Base64, as RFC 4648 has it.'),
  tooManyReplays: [
    90246,
    429,
    'RATE_LIMITED',
    'This account has {max} replays under way; try again when one of them is done.',
  ],
  replayTimeout: [90247, 503, 'UNAVAILABLE', 'The answer to the replay did not come within {seconds} s.'],
  replayNoAnswer: [90248, 503, 'UNAVAILABLE', 'The replay got no answer: {reason}.'],
  tooMuchCaptured: bad(
    90249,
    'One answer gives at most {max} bytes of headers, paths and bodies of captured requests: ask for fewer at once.',
  ),
} as const satisfies Record<string, Row>;
