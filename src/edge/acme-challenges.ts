// Challenges of certificate authorities (RFC 8555, section 8): the gateway answers them, before routing, modules and redirects, while it
// expects the authority. Otherwise the service of the account that has the name may, which proves to the authority whose the name is;
// never that of another account, and never that of a name whose certificate the gateway itself obtains.

import { lenientPath, pathOfTarget } from '../http/path.ts';
import type { RequestHead } from './codec/request-head.ts';

/** What an authority may come for: a name over HTTP, with a token, or over TLS. */
export interface ChallengeRequest {
  kind: 'http-01' | 'tls-alpn-01';
  /** Lower case. */
  name: string;
  /** '' over TLS. */
  token: string;
}

/** Who knows what is expected. */
export interface ChallengeSource {
  /** @returns the key authorization; undefined when no authority is expected. */
  find(request: ChallengeRequest): Promise<string | undefined>;
  /** @returns the account whose service may answer for a name; undefined: nobody's may. */
  holderOf(name: string): Promise<string | undefined>;
}

/** The key authorization; or whose service may answer, undefined for nobody's. */
export type ChallengeAnswer = { value: string } | { holder: string | undefined };

const PATH = '/.well-known/acme-challenge/';
/** The same in a path that is not read the same everywhere. */
const UNTOLD = /\.well-known.*acme-challenge/is;
/** Tokens have 128 bits at least (RFC 8555, section 8.3). */
const TOKEN = /^[\w-]{20,128}$/;
const [PERCENT, DOT, SLASH, QUESTION_MARK, BACKSLASH] = [0x25, 0x2e, 0x2f, 0x3f, 0x5c];
/** Look-ups at once. Strangers can cause them; above it, nobody can say. */
const LOOKUPS_MAX = 32;

export class AcmeChallenges {
  readonly #source: ChallengeSource;
  readonly #underWay = new Map<string, Promise<ChallengeAnswer>>();

  constructor(source: ChallengeSource) {
    this.#source = source;
  }

  /** Who answers, or what. Rejects when nobody can say. */
  answer(request: ChallengeRequest): Promise<ChallengeAnswer> {
    const key = `${request.kind} ${request.name} ${request.token}`;
    const known = this.#underWay.get(key);
    if (known) return known;
    if (this.#underWay.size >= LOOKUPS_MAX) return Promise.reject(new Error('too many challenges are looked up'));
    const found = this.#lookUp(request).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, found);
    return found;
  }

  async #lookUp(request: ChallengeRequest): Promise<ChallengeAnswer> {
    const isAsked = request.kind === 'tls-alpn-01' || TOKEN.test(request.token);
    const value = isAsked ? await this.#source.find(request) : undefined;
    return value === undefined ? { holder: await this.#source.holderOf(request.name) } : { value };
  }
}

/**
 * The token in the path of a request for `http-01`; undefined for nearly all requests. Of a path that a service may take for that of a
 * challenge, however it is spelled, it is what follows there, which need be no token.
 */
export function challengeToken({ bytes, line }: RequestHead): string | undefined {
  const { targetStart: start, targetEnd: end } = line;
  if (isOrdinary(bytes, start, end)) return undefined;
  const path = pathOfTarget(bytes.toString('latin1', start, end));
  const read = lenientPath(path);
  // What servers read in different ways, no authority asks for.
  if (read === undefined) return UNTOLD.test(unescaped(path)) ? '' : undefined;
  return read.slice(0, PATH.length).toLowerCase() === PATH ? read.slice(PATH.length) : undefined;
}

/** Whether a path has one reading, in which no segment begins with a dot: it is looked at for every request. */
function isOrdinary(bytes: Buffer, start: number, end: number): boolean {
  let before = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === QUESTION_MARK) return true;
    if (byte === PERCENT || byte === BACKSLASH || (before === SLASH && (byte === DOT || byte === SLASH))) return false;
    before = byte;
  }
  return true;
}

const unescaped = (path: string) =>
  path.replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
