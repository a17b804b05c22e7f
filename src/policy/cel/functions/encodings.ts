// Base64, JSON, query strings and percent-encoding.

import { type CelFunc, type CelInput, type CelMap, type CelValue, celFunc, celMethod, isCelList } from '@bufbuild/cel';
import { growText, spendText } from '../cost-budget.ts';
import { formatJson, formatValue, fromJson } from '../format.ts';
import { BOOL, BYTES, DYN, LIST, MAP, STRING } from '../types.ts';
import { isUrl, parseUrl } from './urls.ts';

function toBase64(bytes: Uint8Array | string): string {
  growText(bytes.length * 2);
  return Buffer.from(bytes as string).toString('base64');
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes to text. Bytes that are no UTF-8 have none: replacements would make texts equal that are not. */
function fromBase64(text: string): string {
  spendText(text.length * 4);
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text))
    throw new Error('is not base64 (RFC 4648, with =)');
  try {
    return utf8.decode(Buffer.from(text, 'base64'));
  } catch {
    throw new Error('is base64 of bytes that are not text in UTF-8');
  }
}

function isJson(text: string): boolean {
  spendText(text.length * 8);
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Percent-encodes all characters but letters, digits and `-._~` (RFC 3986, section 2.3). */
function percentEncode(text: string): string {
  growText(text.length * 3);
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function percentDecode(text: string): string {
  spendText(text.length * 8);
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('is not percent-encoded: behind each % there must be two hexadecimal digits of UTF-8');
  }
}

/** Formats a query string `a=b&c=d` with `+` for a space. A list becomes one parameter for each element. */
function toQuery(map: CelMap): string {
  const query = new URLSearchParams();
  for (const [key, value] of map)
    for (const one of isCelList(value) ? value : [value]) query.append(formatValue(key as CelValue), formatValue(one));
  const text = query.toString();
  growText(text.length * 4);
  return text;
}

/** Parses a query string. Of several parameters with one name, the first counts. */
function fromQuery(text: string): Map<string, CelInput> {
  spendText(text.length * 32);
  const parameters = new Map<string, CelInput>();
  for (const [key, value] of new URLSearchParams(text)) if (!parameters.has(key)) parameters.set(key, value);
  return parameters;
}

function isQuery(text: string): boolean {
  spendText(text.length * 8);
  return text.split('&').every((part) => /^(?:[^\s=%]|%[\da-f]{2})+=(?:[^\s%]|%[\da-f]{2})*$/i.test(part));
}

type Change = (text: string) => CelInput;

/** Defines a function both in a namespace and as a method of texts. */
function functionAndMethod(
  name: string,
  method: string,
  result: typeof STRING | typeof DYN | typeof MAP,
  change: Change,
): CelFunc[] {
  return [
    celFunc(name, [STRING], result as typeof DYN, (text) => change(text)),
    celMethod(method, STRING, [], result as typeof DYN, function () {
      return change(this);
    }),
  ];
}

const isMethod = (name: string, is: (text: string) => boolean) =>
  celMethod(name, STRING, [], BOOL, function () {
    return is(this);
  });

export const ENCODING_FUNCTIONS: CelFunc[] = [
  celFunc('base64.encode', [BYTES], STRING, toBase64),
  celFunc('base64.encode', [STRING], STRING, toBase64),
  ...functionAndMethod('base64.decode', 'decodeBase64', STRING, fromBase64),
  celMethod('encodeBase64', STRING, [], STRING, function () {
    return toBase64(this);
  }),
  celFunc(
    'basic_auth.encode',
    [STRING, STRING],
    STRING,
    (user, password) => `Basic ${toBase64(`${user}:${password}`)}`,
  ),
  celFunc('json.encode', [DYN], STRING, formatJson),
  celMethod('encodeJson', LIST, [], STRING, function () {
    return formatJson(this);
  }),
  celMethod('encodeJson', MAP, [], STRING, function () {
    return formatJson(this);
  }),
  ...functionAndMethod('json.decode', 'decodeJson', DYN, fromJson),
  celFunc('queryString.encode', [MAP], STRING, toQuery),
  celMethod('encodeQueryString', MAP, [], STRING, function () {
    return toQuery(this);
  }),
  ...functionAndMethod('queryString.decode', 'decodeQueryString', MAP, fromQuery),
  ...functionAndMethod('url.escape', 'escapeUrl', STRING, percentEncode),
  ...functionAndMethod('url.unescape', 'unescapeUrl', STRING, percentDecode),
  ...functionAndMethod('url.parse', 'parseUrl', MAP, parseUrl),
  isMethod('isJson', isJson),
  isMethod('isQueryString', isQuery),
  isMethod('isURL', isUrl),
];
