// Heads of requests that are hostile, broken or merely odd, and what becomes of each.

export interface Case {
  name: string;
  /** Latin-1. All that the visitor sends before it ends. */
  bytes: string;
  /** Of the answers, in order. */
  statuses: number[];
  /** How many requests reach the upstream. */
  reaching: number;
}

const GET = 'GET / HTTP/1.1\r\n';
const POST = 'POST / HTTP/1.1\r\n';
const HOST = 'Host: app.test\r\n';
const END = '\r\n';
const BODY = '5\r\nhello\r\n0\r\n\r\n';

const refused = (status: number, name: string, bytes: string): Case => ({
  name,
  bytes,
  statuses: [status],
  reaching: 0,
});
const passed = (name: string, bytes: string): Case => ({ name, bytes, statuses: [200], reaching: 1 });

export const corpus: Case[] = [
  // Two ideas of where the body ends.
  refused(
    400,
    'Content-Length and Transfer-Encoding',
    `${POST}${HOST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${BODY}`,
  ),
  refused(
    400,
    'Transfer-Encoding and Content-Length',
    `${POST}${HOST}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n${BODY}`,
  ),
  refused(400, 'two different Content-Lengths', `${POST}${HOST}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`),
  refused(400, 'two equal Content-Lengths', `${POST}${HOST}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`),
  refused(400, 'a list of Content-Lengths', `${POST}${HOST}Content-Length: 5, 5\r\n\r\nhello`),
  refused(400, 'an empty Content-Length', `${POST}${HOST}Content-Length:\r\n\r\n`),
  refused(400, 'a Content-Length with a sign', `${POST}${HOST}Content-Length: +5\r\n\r\nhello`),
  refused(400, 'a negative Content-Length', `${POST}${HOST}Content-Length: -1\r\n\r\n`),
  refused(400, 'a hexadecimal Content-Length', `${POST}${HOST}Content-Length: 0x5\r\n\r\nhello`),
  refused(
    400,
    'a Content-Length that cannot be counted',
    `${POST}${HOST}Content-Length: 18446744073709551621\r\n\r\nhello`,
  ),
  refused(400, 'a Content-Length with a blank inside', `${POST}${HOST}Content-Length: 5 5\r\n\r\nhello`),
  refused(400, 'Transfer-Encoding on HTTP/1.0', `POST / HTTP/1.0\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${BODY}`),
  refused(
    400,
    'identity and chunked on two lines',
    `${POST}${HOST}Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n${BODY}`,
  ),
  refused(
    400,
    'chunked twice',
    `${POST}${HOST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n${BODY}`,
  ),
  refused(400, 'chunked, chunked', `${POST}${HOST}Transfer-Encoding: chunked, chunked\r\n\r\n${BODY}`),
  refused(400, 'gzip, chunked', `${POST}${HOST}Transfer-Encoding: gzip, chunked\r\n\r\n${BODY}`),
  refused(400, 'an encoding that only begins like chunked', `${POST}${HOST}Transfer-Encoding: chunkedx\r\n\r\n${BODY}`),
  refused(400, 'chunked in quotes', `${POST}${HOST}Transfer-Encoding: "chunked"\r\n\r\n${BODY}`),
  refused(400, 'chunked with a parameter', `${POST}${HOST}Transfer-Encoding: chunked;q=1\r\n\r\n${BODY}`),
  refused(400, 'an empty Transfer-Encoding', `${POST}${HOST}Transfer-Encoding:\r\n\r\n${BODY}`),
  refused(400, 'a vertical tab before chunked', `${POST}${HOST}Transfer-Encoding: \x0bchunked\r\n\r\n${BODY}`),

  // Line ends and bytes that somebody may take for something else.
  refused(400, 'bare LF everywhere', 'GET / HTTP/1.1\nHost: app.test\n\n'),
  refused(400, 'bare LF after the request line', `GET / HTTP/1.1\n${HOST}\r\n`),
  refused(400, 'bare LF after a field', `${GET}Host: app.test\nA: b\r\n\r\n`),
  refused(400, 'bare LF at the end of the head', `${GET}${HOST}\n`),
  refused(400, 'bare CR in a value', `${GET}${HOST}A: b\rc\r\n\r\n`),
  refused(400, 'CR CR LF', `${GET}${HOST}A: b\r\r\n\r\n`),
  refused(400, 'a bare CR at the end of the head', `${GET}${HOST}\rX`),
  refused(400, 'an obsolete folded line', `${GET}${HOST}A: b\r\n c\r\n\r\n`),
  refused(400, 'a folded line right after the request line', `${GET} ${HOST}\r\n`),
  refused(400, 'NUL in a value', `${GET}${HOST}A: b\0c\r\n\r\n`),
  refused(400, 'NUL in a name', `${GET}${HOST}A\0: b\r\n\r\n`),
  refused(400, 'DEL in a value', `${GET}${HOST}A: \x7f\r\n\r\n`),
  refused(400, 'a control byte in a value', `${GET}${HOST}A: \x01\r\n\r\n`),
  refused(400, 'a space before the colon', `${POST}${HOST}Content-Length : 5\r\n\r\nhello`),
  refused(400, 'a tab before the colon', `${POST}${HOST}Transfer-Encoding\t: chunked\r\n\r\n${BODY}`),
  refused(400, 'an empty name', `${GET}${HOST}: b\r\n\r\n`),
  refused(400, 'a line without a colon', `${GET}${HOST}nothing\r\n\r\n`),
  refused(400, 'a name with a parenthesis', `${GET}${HOST}a(b): c\r\n\r\n`),
  refused(400, 'a name with a byte of the upper half', `${GET}${HOST}\xe4: c\r\n\r\n`),

  // Two ideas of where the request goes.
  refused(400, 'no Host', `${GET}A: b\r\n\r\n`),
  refused(400, 'no Host on HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'),
  refused(400, 'an empty Host', `${GET}Host:\r\n\r\n`),
  refused(400, 'two Hosts', `${GET}${HOST}Host: other.test\r\n\r\n`),
  refused(400, 'two equal Hosts', `${GET}${HOST}${HOST}\r\n`),
  refused(400, 'a Host with a user', `${GET}Host: app.test@other.test\r\n\r\n`),
  refused(400, 'a Host with a path', `${GET}Host: app.test/x\r\n\r\n`),
  refused(400, 'a list in Host', `${GET}Host: app.test, other.test\r\n\r\n`),
  refused(400, 'a blank in Host', `${GET}Host: app.test other.test\r\n\r\n`),
  refused(400, 'a Host with a port that is none', `${GET}Host: app.test:x\r\n\r\n`),
  refused(400, 'a Host with a long port', `${GET}Host: app.test:800000\r\n\r\n`),
  refused(404, 'a Host with an underscore', `${GET}Host: a_b.test\r\n\r\n`),
  refused(400, 'a Host in UTF-8', `${GET}Host: \xc3\xa4.test\r\n\r\n`),
  refused(400, 'a Host with percent signs', `${GET}Host: app%2etest\r\n\r\n`),
  refused(400, 'a Host with two dots at its end', `${GET}Host: app.test..\r\n\r\n`),
  refused(400, 'a Host with an empty label', `${GET}Host: app..test\r\n\r\n`),
  refused(400, 'a Host that is a dot', `${GET}Host: .\r\n\r\n`),
  refused(400, 'a Host with a label that is too long', `${GET}Host: ${'a'.repeat(64)}.test\r\n\r\n`),
  refused(400, 'a Host that is too long', `${GET}Host: ${'a.'.repeat(127)}test\r\n\r\n`),
  refused(400, 'an absolute target for another host', `GET http://other.test/ HTTP/1.1\r\n${HOST}\r\n`),
  refused(400, 'an absolute target for another port', `GET http://app.test:81/ HTTP/1.1\r\n${HOST}\r\n`),
  refused(400, 'an absolute target with a user', `GET http://app.test@other.test/ HTTP/1.1\r\n${HOST}\r\n`),
  refused(400, 'an absolute target without a host', `GET http:///x HTTP/1.1\r\n${HOST}\r\n`),
  refused(400, 'an absolute target of another scheme', `GET ftp://app.test/ HTTP/1.1\r\n${HOST}\r\n`),
  refused(421, 'an absolute target for https', `GET https://app.test/ HTTP/1.1\r\n${HOST}\r\n`),
  refused(400, 'a target that is only a name', `GET app.test HTTP/1.1\r\n${HOST}\r\n`),
  refused(400, 'GET *', `GET * HTTP/1.1\r\n${HOST}\r\n`),
  refused(501, 'CONNECT', 'CONNECT app.test:80 HTTP/1.1\r\nHost: app.test:80\r\n\r\n'),
  refused(405, 'TRACE', `TRACE / HTTP/1.1\r\n${HOST}\r\n`),
  refused(501, 'CONNECT with a path', `CONNECT / HTTP/1.1\r\n${HOST}\r\n`),
  refused(404, 'an unknown name', `${GET}Host: unknown.test\r\n\r\n`),
  refused(404, 'an IPv4 address', `${GET}Host: 127.0.0.1:8080\r\n\r\n`),
  refused(404, 'an IPv6 address', `${GET}Host: [::1]:8080\r\n\r\n`),
  refused(400, 'brackets without an address', `${GET}Host: [app.test]\r\n\r\n`),

  // The request line.
  refused(400, 'no version', `GET /\r\n${HOST}\r\n`),
  refused(400, 'a version in lower case', `GET / http/1.1\r\n${HOST}\r\n`),
  refused(400, 'a version with more digits', `GET / HTTP/1.10\r\n${HOST}\r\n`),
  refused(400, 'two spaces', `GET  / HTTP/1.1\r\n${HOST}\r\n`),
  refused(400, 'a space at the end of the request line', `GET / HTTP/1.1 \r\n${HOST}\r\n`),
  refused(400, 'a space before the method', ` GET / HTTP/1.1\r\n${HOST}\r\n`),
  refused(400, 'a tab as separator', `GET\t/\tHTTP/1.1\r\n${HOST}\r\n`),
  refused(400, 'a target with a space', `GET /a b HTTP/1.1\r\n${HOST}\r\n`),
  refused(400, 'a target with a byte of the upper half', `GET /\xe4 HTTP/1.1\r\n${HOST}\r\n`),
  refused(400, 'a target with a fragment', `GET /#a HTTP/1.1\r\n${HOST}\r\n`),
  refused(400, 'a target with NUL', `GET /\0 HTTP/1.1\r\n${HOST}\r\n`),
  refused(400, 'a method that is no token', `G(T / HTTP/1.1\r\n${HOST}\r\n`),
  refused(400, 'a method that is too long', `${'A'.repeat(65)} / HTTP/1.1\r\n${HOST}\r\n`),
  refused(400, 'a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
  refused(505, 'HTTP/2.0', `GET / HTTP/2.0\r\n${HOST}\r\n`),
  refused(505, 'HTTP/1.2', `GET / HTTP/1.2\r\n${HOST}\r\n`),
  refused(505, 'HTTP/0.9', `GET / HTTP/0.9\r\n${HOST}\r\n`),
  refused(505, 'the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),

  // Too much.
  refused(414, 'a target that is too long', `GET /${'a'.repeat(16 * 1024)} HTTP/1.1\r\n${HOST}\r\n`),
  refused(431, 'a field that is too long', `${GET}${HOST}A: ${'b'.repeat(33 * 1024)}\r\n\r\n`),
  refused(431, 'a head that is too large', `${GET}${HOST}${`A: ${'b'.repeat(1000)}\r\n`.repeat(40)}\r\n`),
  refused(431, '201 fields', `${GET}${HOST}${'A: b\r\n'.repeat(200)}\r\n`),
  refused(431, '10,000 fields', `${GET}${HOST}${'A: b\r\n'.repeat(9999)}\r\n`),
  refused(400, 'nothing but empty lines', '\r\n'.repeat(17 * 1024)),

  // Hop by hop.
  ...['Host', 'Content-Length', 'Transfer-Encoding', 'Authorization', 'Cookie', 'X-Forwarded-For', 'X-Real-IP'].map(
    (name) => refused(400, `Connection: ${name}`, `${GET}${HOST}Connection: ${name.toLowerCase()}, close\r\n\r\n`),
  ),
  refused(400, 'a Connection that is no list', `${GET}${HOST}Connection: close;a=b\r\n\r\n`),
  refused(400, 'a Connection option in quotes', `${GET}${HOST}Connection: "close"\r\n\r\n`),

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
