// Challenges of certificate authorities (RFC 8555, section 8): answered before routing, modules and redirects, and only while the
// authority is expected. Every other request and handshake goes on to what serves the name.

import type { RequestHead } from './codec/request-head.ts';

/** What an authority may come for: a name over HTTP, with a token, or over TLS. */
export interface ChallengeRequest {
  kind: 'http-01' | 'tls-alpn-01';
  /** Lower case. */
  name: string;
  /** '' over TLS. */
  token: string;
}

/** @returns the key authorization; undefined when no authority is expected. */
export type FindChallenge = (request: ChallengeRequest) => Promise<string | undefined>;

const PATH = Buffer.from('/.well-known/acme-challenge/');
/** Tokens have 128 bits at least (RFC 8555, section 8.3). */
const TOKEN = /^[\w-]{20,128}$/;
/** Look-ups at once. Strangers can cause them; above it, no authority is expected. */
const LOOKUPS_MAX = 32;

export class AcmeChallenges {
  readonly #find: FindChallenge;
  readonly #underWay = new Map<string, Promise<string | undefined>>();

  constructor(find: FindChallenge) {
    this.#find = find;
  }

  /** The key authorization that is expected; undefined when none is, or when nobody can say. Never rejects. */
  find(request: ChallengeRequest): Promise<string | undefined> {
    const key = `${request.kind} ${request.name} ${request.token}`;
    const known = this.#underWay.get(key);
    if (known) return known;
    if (this.#underWay.size >= LOOKUPS_MAX) return Promise.resolve(undefined);
    const found = this.#find(request)
      .catch(() => undefined)
      .finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, found);
    return found;
  }
}

/** The token in the path of a request for `http-01`; undefined for nearly all requests. */
export function challengeToken({ bytes, line }: RequestHead): string | undefined {
  const { targetStart: start, targetEnd: end } = line;
  const tokenStart = start + PATH.length;
  if (end <= tokenStart || bytes[start + 1] !== PATH[1] || bytes.compare(PATH, 0, PATH.length, start, tokenStart) !== 0)
    return undefined;
  const token = bytes.toString('latin1', tokenStart, end);
  return TOKEN.test(token) ? token : undefined;
}
