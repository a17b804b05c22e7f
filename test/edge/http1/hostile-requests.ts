// Heads of requests that are hostile, broken or merely odd, and what becomes of each.

import { FOREIGN_NAMESPACE } from '../../../src/tunnel/control/compatibility.ts';
import { hostileHeads } from './hostile-heads.ts';
import { BODY, END, GET, HOST, type HostileRequest, POST, passed, refused } from './hostile-request.ts';

export const corpus: HostileRequest[] = [
  ...hostileHeads,
  // Bodies.
  refused(400, 'a body that is cut short', `${POST}${HOST}Content-Length: 10\r\n\r\nhello`),
  refused(400, 'a chunked body that is cut short', `${POST}${HOST}Transfer-Encoding: chunked\r\n\r\n5\r\nhel`),
  ...[
    ['a chunk size with a sign', '+5\r\nhello\r\n0\r\n\r\n'],
    ['a chunk size with 0x', '0x5\r\nhello\r\n0\r\n\r\n'],
    ['an empty chunk size', '\r\nhello\r\n0\r\n\r\n'],
    ['a chunk size that is too large', 'fffffffffffffffff\r\nhello\r\n0\r\n\r\n'],
    ['a chunk size that cannot be counted', 'ffffffffffffffff\r\nhello\r\n0\r\n\r\n'],
    ['a space after a chunk size', '5 \r\nhello\r\n0\r\n\r\n'],
    ['a bare CR in a chunk extension', '5;a\rb\r\nhello\r\n0\r\n\r\n'],
    ['bare LF in a chunk extension', '5;a\nhello\r\n0\r\n\r\n'],
    ['bare LF right after the semicolon', '5;\nhello\r\n0\r\n\r\n'],
    ['NUL in a chunk extension', '5;a=\0\r\nhello\r\n0\r\n\r\n'],
    ['a line end in a quoted chunk extension', '5;a="\r\n0\r\n\r\n"\r\nhello\r\n0\r\n\r\n'],
    ['a chunk extension that is too long', `5;${'a'.repeat(1025)}\r\nhello\r\n0\r\n\r\n`],
    ['blanks before an extension without end', `5${' '.repeat(1025)};a\r\nhello\r\n0\r\n\r\n`],
    ['a chunk extension without a semicolon', '5 a=b\r\nhello\r\n0\r\n\r\n'],
    ['a chunk extension without a size', ';a=b\r\nhello\r\n0\r\n\r\n'],
    ['bare LF after a chunk size', '5\nhello\r\n0\r\n\r\n'],
    ['bare LF after a chunk', '5\r\nhello\n0\r\n\r\n'],
    ['a chunk that is longer than its size', '4\r\nhello\r\n0\r\n\r\n'],
    ['a bare CR after the last chunk', '5\r\nhello\r\n0\r\r\n'],
    ['bare LF in the trailer', '5\r\nhello\r\n0\r\nA: b\n\r\n'],
    ['a folded line in the trailer', '5\r\nhello\r\n0\r\nA: b\r\n c\r\n\r\n'],
    ['NUL in the trailer', '5\r\nhello\r\n0\r\nA: \0\r\n\r\n'],
    ['Content-Length in the trailer', '5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n'],
    ['Transfer-Encoding in the trailer', '5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['Content_Length in the trailer', '5\r\nhello\r\n0\r\nContent_Length: 5\r\n\r\n'],
    ['Host in the trailer', '5\r\nhello\r\n0\r\nHost: other.test\r\n\r\n'],
    ['an identity in the trailer', '5\r\nhello\r\n0\r\nGateway-Auth_User-Email: b\r\n\r\n'],
    [
      'an identity of the original service in the trailer',
      `5\r\nhello\r\n0\r\n${FOREIGN_NAMESPACE}-auth-user-email: b\r\n\r\n`,
    ],
    ['Authorization in the trailer', '5\r\nhello\r\n0\r\nAuthorization: b\r\n\r\n'],
    ['a trailer that is too long', `5\r\nhello\r\n0\r\nA: ${'b'.repeat(17 * 1024)}\r\n\r\n`],
  ].map(([name = '', body = '']) => refused(400, name, `${POST}${HOST}Transfer-Encoding: chunked\r\n\r\n${body}`)),

  // What looks odd and is fine.
  passed('a name with an underscore', `${GET}${HOST}X_Forwarded_For: 1.2.3.4\r\n\r\n`),
  passed('a length with an underscore is none', `${GET}${HOST}Content_Length: 5\r\n\r\n`),
  passed('an encoding with an underscore is none', `${GET}${HOST}Transfer_Encoding: chunked\r\n\r\n`),
  passed('a Host with an empty port', `${GET}Host: app.test:\r\n\r\n`),
  passed('an absolute target with an empty port', `GET http://app.test:/ HTTP/1.1\r\n${HOST}\r\n`),
  passed('a chunk extension', `${POST}${HOST}Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n`),
  passed('the plainest request', `${GET}${HOST}${END}`),
  passed('an empty line before the request', `\r\n${GET}${HOST}${END}`),
  passed('200 fields', `${GET}${HOST}${'A: b\r\n'.repeat(199)}\r\n`),
  passed('a target of 16 KiB', `GET /${'a'.repeat(16 * 1024 - 1)} HTTP/1.1\r\n${HOST}\r\n`),
  passed('an empty value', `${GET}${HOST}A:\r\n\r\n`),
  passed('a value without a blank before it', `${GET}Host:app.test\r\n\r\n`),
  passed('a value with blanks around it', `${GET}Host: \t app.test \t \r\n\r\n`),
  passed('a value of the upper half', `${GET}${HOST}A: \xff\xfe\r\n\r\n`),
  passed('a method of somebody’s own', `M-SEARCH / HTTP/1.1\r\n${HOST}\r\n`),
  passed('a Host in upper case, with a dot and a port', `${GET}Host: APP.Test.:8080\r\n\r\n`),
  passed('an absolute target for the same host', `GET http://APP.test:80 HTTP/1.1\r\n${HOST}\r\n`),
  passed('OPTIONS *', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`),
  passed('a body with GET', `GET / HTTP/1.1\r\n${HOST}Content-Length: 5\r\n\r\nhello`),
  passed('Chunked with a capital', `${POST}${HOST}Transfer-Encoding: Chunked\r\n\r\n${BODY}`),
  passed(
    'a chunk size with zeros before it',
    `${POST}${HOST}Transfer-Encoding: chunked\r\n\r\n000000005\r\nhello\r\n00\r\n\r\n`,
  ),
  passed('a trailer', `${POST}${HOST}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n`),
  passed(
    'Upgrade: h2c',
    `${GET}${HOST}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n`,
  ),
  passed('HTTP/1.0', `GET / HTTP/1.0\r\n${HOST}\r\n`),
  passed('a Connection with empty members', `${GET}${HOST}Connection: , close ,\r\n\r\n`),

  // One request in, at most one out.
  {
    name: 'a request hidden behind a Content-Length of 0',
    bytes: `${POST}${HOST}Content-Length: 0\r\n\r\nGET /hidden HTTP/1.1\r\n${HOST}\r\n`,
    statuses: [200, 200],
    reaching: 2,
  },
  {
    name: 'a request hidden in a body',
    bytes: `${POST}${HOST}Content-Length: 42\r\n\r\nGET /hidden HTTP/1.1\r\nHost: app.test\r\n\r\n12${GET}${HOST}\r\n`,
    statuses: [200, 200],
    reaching: 2,
  },
  {
    name: 'a second request that is broken',
    bytes: `${GET}${HOST}\r\nGET / HTTP/1.1\r\nHost : app.test\r\n\r\n${GET}${HOST}\r\n`,
    statuses: [200, 400],
    reaching: 1,
  },
  {
    name: 'requests after Connection: close',
    bytes: `${GET}${HOST}Connection: close\r\n\r\n${GET}${HOST}\r\n`,
    statuses: [200],
    reaching: 1,
  },
  {
    name: 'requests after HTTP/1.0',
    bytes: `GET / HTTP/1.0\r\n${HOST}\r\n${GET}${HOST}\r\n`,
    statuses: [200],
    reaching: 1,
  },
];
