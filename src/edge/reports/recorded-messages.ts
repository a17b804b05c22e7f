// The two messages of a recorded request. Each head is kept as one text, and parsed when it is first asked for.

import type { OutgoingHttpHeaders } from 'node:http2';
import { SPACE, TAB } from '../codec/bytes.ts';
import type { RequestHead } from '../codec/request-head.ts';
import { originFormOf } from '../codec/request-line.ts';
import type { RequestReport } from './traffic-reports.ts';

type Request = RequestReport['request'];
type Response = NonNullable<RequestReport['response']>;
type Fields = Request['fields'];

export class RecordedRequest implements Request {
  readonly version: Request['version'];
  readonly scheme: Request['scheme'];
  readonly firstByteAt: number;
  /** 0: not yet. */
  lastByteAt = 0;
  bodyLength = 0;
  readonly #head: string;
  readonly #methodEnd: number;
  readonly #targetStart: number;
  readonly #targetEnd: number;
  readonly #fieldsStart: number;
  readonly #host: Buffer;
  readonly #http2Fields: readonly string[] | undefined;
  #fields: Fields | undefined;

  /**
   * @param head which may be released afterwards.
   * @param http2Fields of HTTP/2: names and values in turn, as they came.
   */
  constructor(head: RequestHead, scheme: Request['scheme'], at: number, http2Fields?: readonly string[]) {
    const { line, start } = head;
    this.version = http2Fields ? 'HTTP/2.0' : line.isHttp10 ? 'HTTP/1.0' : 'HTTP/1.1';
    this.scheme = scheme;
    this.firstByteAt = at;
    this.#head = head.bytes.toString('latin1', start, head.end);
    this.#methodEnd = line.methodEnd - start;
    this.#targetStart = line.targetStart - start;
    this.#targetEnd = line.targetEnd - start;
    this.#fieldsStart = head.fieldsStart - start;
    this.#host = head.host;
    this.#http2Fields = http2Fields;
  }

  get method(): string {
    return this.#head.slice(0, this.#methodEnd);
  }

  get target(): string {
    return originFormOf(this.method, this.#head.slice(this.#targetStart, this.#targetEnd));
  }

  get host(): string {
    return this.#host.toString('latin1');
  }

  get fields(): Fields {
    this.#fields ??= this.#http2Fields
      ? http2FieldsOf(this.#http2Fields, this.host)
      : fieldsIn(this.#head, this.#fieldsStart);
    return this.#fields;
  }
}

export class RecordedResponse implements Response {
  readonly status: number;
  readonly firstByteAt: number;
  lastByteAt = 0;
  bodyLength = 0;
  isComplete = false;
  readonly #head: string | OutgoingHttpHeaders;
  #fields: Fields | undefined;

  /** @param head as it is sent: as HTTP/1, or the fields of HTTP/2. */
  constructor(status: number, at: number, head: string | OutgoingHttpHeaders) {
    this.status = status;
    this.firstByteAt = at;
    this.#head = head;
  }

  get fields(): Fields {
    const head = this.#head;
    this.#fields ??= typeof head === 'string' ? fieldsIn(head, head.indexOf('\n') + 1) : listed(head);
    return this.#fields;
  }
}

/** @param head which was found well formed, and ends with an empty line. */
function fieldsIn(head: string, start: number): Fields {
  const fields: [string, string][] = [];
  const last = head.length - 2;
  for (let at = start; at < last; ) {
    const colon = head.indexOf(':', at);
    const end = head.indexOf('\r\n', colon);
    fields.push([head.slice(at, colon), valueIn(head, colon + 1, end)]);
    at = end + 2;
  }
  return fields;
}

/** Without the blanks around it; `trim` would take more than those. */
function valueIn(head: string, start: number, end: number): string {
  let [from, to] = [start, end];
  while (from < to && isBlank(head.charCodeAt(from))) from++;
  while (to > from && isBlank(head.charCodeAt(to - 1))) to--;
  return head.slice(from, to);
}

const isBlank = (code: number) => code === SPACE || code === TAB;

function listed(head: OutgoingHttpHeaders): Fields {
  const fields: [string, string][] = [];
  for (const [name, value] of Object.entries(head)) {
    if (name.startsWith(':')) continue;
    for (const each of Array.isArray(value) ? value : [value]) fields.push([name, String(each)]);
  }
  return fields;
}

/** The authority is what HTTP/2 has in place of Host. */
function http2FieldsOf(raw: readonly string[], host: string): Fields {
  const fields: [string, string][] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (!name.startsWith(':')) fields.push([name, raw[i + 1] as string]);
  }
  return fields.some(([name]) => name === 'host') ? fields : [['host', host], ...fields];
}
