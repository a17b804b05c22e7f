// An answer whose head was read, as modules see it, and those that modules give themselves.

import { STATUS_CODES } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describeOwnBody, describeStreamedBody } from '../../http/body-fields.ts';
import { type BodyTransform, transformWhole } from '../../http/body-transform.ts';
import type { ContentCoding, HttpResponse, ModuleDecisions } from '../../http/exchange.ts';
import { HeaderList, sanitizedFieldValue } from '../../http/header-list.ts';
import type { Responded } from '../../http/module.ts';
import { CHUNKED, UNTIL_CLOSE } from '../codec/body.ts';
import { endToEndFields } from '../codec/fields.ts';
import type { ResponseHead } from '../codec/response-head.ts';

/** Of upstream. */
export class UpstreamResponse implements HttpResponse {
  readonly isSynthetic = false;
  encoding: ContentCoding | undefined;
  /** What the body goes through on its way, in order. */
  transforms: BodyTransform[] = [];
  readonly #head: ResponseHead;
  readonly #length: number;
  readonly #collect: () => Promise<Buffer | undefined>;
  /** What goes on, once the body was read. */
  #body: Buffer | undefined;
  #fields: HeaderList | undefined;
  #status: number | undefined;

  /** @param length as `ResponseHead.bodyLength` has it. @param collect reads the whole body, which does not go on then. */
  constructor(head: ResponseHead, length: number, collect: () => Promise<Buffer | undefined>) {
    this.#head = head;
    this.#length = length;
    this.#collect = collect;
  }

  get bodyLength(): number | undefined {
    if (this.#body) return this.#body.length;
    if (this.transforms.length > 0) return undefined;
    return this.#length === CHUNKED || this.#length === UNTIL_CLOSE ? undefined : this.#length;
  }

  async body(): Promise<Buffer | undefined> {
    if (this.#length === 0) return NOTHING; // Of the answer to HEAD, too, whose fields tell another length.
    if (this.#body) return this.#body;
    let body = await this.#collect();
    for (const transform of this.transforms.splice(0)) if (body) body = await transformWhole(body, transform);
    if (body) this.#body = body;
    return body;
  }

  replaceBody(body: Buffer): void {
    this.#body = body;
    describeOwnBody(this.fields, body, this.encoding);
  }

  async transformBody(transform: BodyTransform): Promise<void> {
    if (this.#body) return this.replaceBody(await transformWhole(this.#body, transform));
    this.transforms.push(transform);
    describeStreamedBody(this.fields);
  }

  /** Whether the body goes on in other bytes than those that come, and with another framing. */
  get isBodyRewritten(): boolean {
    return this.encoding !== undefined || this.transforms.length > 0;
  }

  /** The response with the body that was read; undefined when none was, and it goes on as it comes. */
  get whole(): ModuleResponse | undefined {
    if (!this.#body) return undefined;
    const { status, fields, encoding } = this;
    const whole = new ModuleResponse({ kind: 'answer', status, fields: fields.list, body: this.#body });
    whole.encoding = encoding;
    return whole;
  }

  get status(): number {
    return this.#status ?? this.#head.status;
  }

  set status(status: number) {
    this.#status = status;
  }

  get fields(): HeaderList {
    this.#fields ??= new HeaderList(endToEndFields(this.#head, 'connection'));
    return this.#fields;
  }

  /** Whether another head has to be made of it than the one that came. */
  get isChanged(): boolean {
    return this.#status !== undefined || this.isBodyRewritten || this.#fields?.isChanged === true;
  }

  /** The head as HTTP/1.1, up to where the fields of the hop follow. */
  write(): string {
    return headOf(this.status, this.fields.list);
  }
}

/** A module's own. */
export class ModuleResponse implements HttpResponse {
  readonly isSynthetic = true;
  status: number;
  readonly fields: HeaderList;
  encoding: ContentCoding | undefined;
  #body: Buffer;

  constructor({ status, fields, body }: Responded) {
    this.status = status;
    this.fields = new HeaderList(fields.map(([name, value]) => [name, sanitizedFieldValue(value)]));
    this.#body = body;
  }

  get bodyLength(): number {
    return this.#body.length;
  }

  async body(): Promise<Buffer> {
    return this.#body;
  }

  replaceBody(body: Buffer): void {
    this.#body = body;
    describeOwnBody(this.fields, body, this.encoding);
  }

  async transformBody(transform: BodyTransform): Promise<void> {
    this.replaceBody(await transformWhole(this.#body, transform));
  }

  /**
   * As it is sent: without what the status must not have (RFC 9110, section 8.6).
   * @param decisions where it is said what compressing it was good for.
   */
  finished(decisions?: ModuleDecisions): LocalReply {
    const hasNoBody = this.status === 204 || this.status === 304;
    const body = hasNoBody ? NOTHING : this.encoding ? encoders[this.encoding](this.#body) : this.#body;
    if (decisions && this.encoding && !hasNoBody)
      decisions.compression = { algorithm: this.encoding, bytesSaved: this.#body.length - body.length };
    const length = hasNoBody ? [] : [['Content-Length', String(body.length)] as const];
    const fields = this.fields.list.filter(([name]) => !/^(?:content-length|transfer-encoding)$/i.test(name));
    return { status: this.status, fields: [...fields, ...length], body };
  }
}

/** A whole answer of the gateway's own. */
export interface LocalReply {
  status: number;
  /** What it counts as, where the status is not it: a client of gRPC is told of errors with 200. */
  countedStatus?: number;
  /** Without `Connection` and `Date`. */
  fields: readonly (readonly [name: string, value: string])[];
  body: Buffer;
}

/** As HTTP/1.1. */
export function localReplyBytes({ status, fields, body }: LocalReply, isToHead: boolean, closes: boolean): Buffer {
  const hasDate = fields.some(([name]) => /^date$/i.test(name));
  const date = hasDate ? [] : [['Date', new Date().toUTCString()] as const];
  const hop = ['Connection', closes ? 'close' : 'keep-alive'] as const;
  const head = headBytes({ status, fields: [...date, ...fields, hop] });
  return isToHead ? head : Buffer.concat([head, body]);
}

/** A head that nothing of HTTP follows. */
export function headBytes({ status, fields }: Pick<LocalReply, 'status' | 'fields'>): Buffer {
  return Buffer.from(`${headOf(status, fields)}\r\n`, 'latin1');
}

function headOf(status: number, fields: readonly (readonly [name: string, value: string])[]): string {
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}`;
}

const NOTHING = Buffer.alloc(0);

const encoders: Record<ContentCoding, (body: Buffer) => Buffer> = {
  gzip: (body) => gzipSync(body),
  deflate: (body) => deflateSync(body),
  br: (body) => brotliCompressSync(body),
};
