// A request whose head was read, as modules see it; and the head that it goes on with when they have changed it.

import { describeOwnBody } from '../../http/body-fields.ts';
import type { HttpRequest } from '../../http/exchange.ts';
import { HeaderList } from '../../http/header-list.ts';
import { CHUNKED } from '../codec/body.ts';
import { endToEndFields } from '../codec/fields.ts';
import { hopField } from '../codec/forwarded-request-head.ts';
import type { RequestHead } from '../codec/request-head.ts';
import { originFormOf } from '../codec/request-line.ts';
import type { ListenerContext } from './listener-context.ts';
import type { RequestSource } from './transport.ts';

/** Nothing of it is made before it is asked for. */
export class PipelineRequest implements HttpRequest {
  readonly method: string;
  readonly receivedAt: number;
  readonly #head: RequestHead;
  readonly #source: RequestSource;
  readonly #listener: ListenerContext;
  readonly #collect: () => Promise<Buffer | undefined>;
  readonly #target: string;
  #fields: HeaderList | undefined;
  #newTarget: string | undefined;
  #newHost: string | undefined;
  #ownBody: Buffer[] | undefined;

  /** @param collect reads the whole body. */
  constructor(source: RequestSource, listener: ListenerContext, collect: () => Promise<Buffer | undefined>) {
    const { head } = source;
    const { bytes, line } = head;
    this.#head = head;
    this.#source = source;
    this.#listener = listener;
    this.#collect = collect;
    this.receivedAt = listener.services.time();
    this.method = bytes.toString('latin1', line.start, line.methodEnd);
    const target = bytes.toString('latin1', line.targetStart, line.targetEnd);
    this.#target = originFormOf(this.method, target);
  }

  get version(): HttpRequest['version'] {
    return this.#source.http2Fields ? 'HTTP/2.0' : this.#head.line.isHttp10 ? 'HTTP/1.0' : 'HTTP/1.1';
  }

  get scheme(): 'http' | 'https' {
    return this.#listener.scheme;
  }

  get host(): string {
    return this.#newHost ?? this.#head.host.toString('latin1');
  }

  set host(host: string) {
    this.#newHost = host.replace(/[^\x21-\x7e]/g, '');
  }

  get target(): string {
    return this.#newTarget ?? this.#target;
  }

  set target(target: string) {
    // What no target may have is escaped; a fragment is never sent.
    this.#newTarget = encodeURI(target.replace(/#.*/s, '')).replace(/%25([0-9a-f]{2})/gi, '%$1');
  }

  get fields(): HeaderList {
    this.#fields ??= new HeaderList(endToEndFields(this.#head, 'host'), true);
    return this.#fields;
  }

  /** What goes on in place of the body that came; undefined when that goes on. */
  get ownBody(): readonly Buffer[] | undefined {
    return this.#ownBody;
  }

  get received(): { host: string; target: string } {
    return { host: this.#head.host.toString('latin1'), target: this.#target };
  }

  get visitorCookies(): readonly string[] {
    return this.#head.visitorCookies;
  }

  get bodyLength(): number | undefined {
    if (this.#ownBody) return this.#ownBody[0]?.length;
    return this.#head.bodyLength === CHUNKED ? undefined : this.#head.bodyLength;
  }

  get hasBodyToCome(): boolean {
    return !this.#source.hasCome;
  }

  body(): Promise<Buffer | undefined> {
    const [own] = this.#ownBody ?? [];
    return own ? Promise.resolve(own) : this.#collect();
  }

  replaceBody(body: Buffer): void {
    this.#ownBody = [body];
    describeOwnBody(this.fields, body);
  }

  /** @returns whether the visitor waits for a 100 before sending the body (RFC 9110, section 10.1.1): upstream is not told. */
  takeExpectation(): boolean {
    return /^100-continue$/i.test(this.fields.get('expect') ?? '') && this.fields.remove('expect');
  }

  /** Whether another head has to be made of it than the one that came. */
  get isChanged(): boolean {
    return this.#newTarget !== undefined || this.#newHost !== undefined || this.#fields?.isChanged === true;
  }

  /** The head as the upstream gets it. @param visitorFields see `forwarded-head.ts`; they end it. */
  write(visitorFields: Buffer): Buffer {
    const lines = [
      `${this.method} ${this.target} HTTP/1.1`,
      `Host: ${this.host}`,
      ...this.fields.list.map(([name, value]) => `${name}: ${value}`),
      '',
    ];
    return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), hopField(this.#head), visitorFields]);
  }
}
