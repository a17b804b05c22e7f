// Checks the signed requests that an ACME server receives (RFC 8555, section 6).

import { randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, flattenedVerify, type JWK } from 'jose';
import { AcmeRefused } from './faults.ts';

export interface AcmeAccount {
  url: string;
  key: JWK;
  thumbprint: string;
}

export interface SignedRequest {
  /** Undefined: the request was signed by a key that it contains. */
  account?: AcmeAccount;
  key: JWK;
  thumbprint: string;
  /** Undefined: POST-as-GET. */
  payload: Record<string, unknown> | undefined;
}

/** Nonces, each of which is good once. */
export class Nonces {
  readonly #issued = new Set<string>();
  readonly #random: () => number;

  /** @param random decides which good nonces are refused. */
  constructor(random: () => number) {
    this.#random = random;
  }

  issue(): string {
    const nonce = randomBytes(16).toString('base64url');
    this.#issued.add(nonce);
    return nonce;
  }

  /** @param rejection how many good nonces are refused, from 0 to 1. @throws {AcmeRefused} */
  use(nonce: unknown, rejection: number): void {
    const isGood = typeof nonce === 'string' && this.#issued.delete(nonce);
    if (!isGood || this.#random() < rejection)
      throw new AcmeRefused(400, 'badNonce', `JWS has an invalid anti-replay nonce: "${nonce}"`);
  }
}

interface Outer {
  url: string;
  body: string;
  contentType: string | undefined;
  useNonce(nonce: unknown): void;
  findAccount(url: string): AcmeAccount | undefined;
}

/** @throws {AcmeRefused} unless the request is signed for this URL by an account, or by a key of its own. */
export async function verifyRequest({ url, body, contentType, useNonce, findAccount }: Outer): Promise<SignedRequest> {
  if (contentType !== 'application/jose+json')
    throw new AcmeRefused(415, 'malformed', 'The content type of a request must be application/jose+json.');
  const jws = parse(body);
  const header = parse(Buffer.from(String(jws.protected), 'base64url').toString());
  useNonce(header.nonce);
  if (header.url !== url)
    throw new AcmeRefused(401, 'unauthorized', `JWS header parameter 'url' is ${header.url}, not ${url}.`);
  if ('kid' in header === 'jwk' in header)
    throw new AcmeRefused(400, 'malformed', 'A request must have either a kid or a jwk.');
  const account = 'kid' in header ? findAccount(String(header.kid)) : undefined;
  if ('kid' in header && !account)
    throw new AcmeRefused(400, 'accountDoesNotExist', `Account "${header.kid}" not found`);
  const key = account?.key ?? (header.jwk as JWK);
  const payload = await open(jws, key);
  const thumbprint = account?.thumbprint ?? (await calculateJwkThumbprint(key));
  return { account, key, thumbprint, payload: payload.length === 0 ? undefined : parse(payload.toString()) };
}

/** @returns the payload. @throws {AcmeRefused} when it is not signed by this key. */
async function open(jws: object, key: JWK): Promise<Buffer> {
  try {
    const { payload } = await flattenedVerify(jws as never, key, { algorithms: ['ES256', 'RS256'] });
    return Buffer.from(payload);
  } catch (cause) {
    throw new AcmeRefused(400, 'malformed', `JWS verification error (${cause})`);
  }
}

/** The account that an external account is bound to (RFC 8555, section 7.3.4). @throws {AcmeRefused} */
export async function verifyBinding(jws: unknown, keys: Record<string, string>, key: JWK, url: string): Promise<void> {
  const refuse = (detail: string) => new AcmeRefused(403, 'unauthorized', `External account binding: ${detail}`);
  if (jws === undefined)
    throw new AcmeRefused(403, 'externalAccountRequired', 'The server requires an external account.');
  const header = parse(Buffer.from(String((jws as { protected: string }).protected), 'base64url').toString());
  const hmac = keys[String(header.kid)];
  if (!hmac) throw refuse(`the key id ${header.kid} is unknown.`);
  if (header.url !== url) throw refuse(`the url is ${header.url}.`);
  const { payload } = await flattenedVerify(jws as never, Buffer.from(hmac, 'base64url'), {
    algorithms: ['HS256'],
  }).catch(() => {
    throw refuse('its signature is wrong.');
  });
  const bound = await calculateJwkThumbprint(parse(Buffer.from(payload).toString()) as JWK);
  if (bound !== (await calculateJwkThumbprint(key))) throw refuse('it is for another key.');
}

/** The inner request of a change of keys (RFC 8555, section 7.3.5). @returns the new key. @throws {AcmeRefused} */
export async function verifyKeyChange(
  jws: Record<string, unknown>,
  account: AcmeAccount,
  url: string,
): Promise<{ key: JWK; thumbprint: string }> {
  const header = parse(Buffer.from(String(jws.protected), 'base64url').toString());
  const key = header.jwk as JWK;
  const claim = parse((await open(jws, key)).toString());
  if (header.url !== url || 'nonce' in header)
    throw new AcmeRefused(400, 'malformed', 'The inner JWS must have the url of the outer one, and no nonce.');
  const old = await calculateJwkThumbprint(claim.oldKey as JWK);
  if (claim.account !== account.url || old !== account.thumbprint)
    throw new AcmeRefused(400, 'malformed', 'The inner JWS is for another account.');
  return { key, thumbprint: await calculateJwkThumbprint(key) };
}

function parse(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Said below.
  }
  throw new AcmeRefused(400, 'malformed', 'The request is not JSON as it should be.');
}
