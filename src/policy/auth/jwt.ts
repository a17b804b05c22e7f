// Whether a token (JWT, RFC 7519) is signed by an issuer that is trusted, for an audience that is meant, and for now.

import { type CryptoKey, decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import { KeysUnavailable } from '../keys/key-cache.ts';
import type { JwksCache } from './jwks-cache.ts';

/** Seconds that an issuer's clock may be from ours. */
const CLOCK_TOLERANCE = 5;

/** What signs tokens and can be checked with a public key; with shared secrets, whoever checks could sign too. */
export const tokenAlgorithms: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

export interface TokenRules {
  /** Compared as they are, a slash at the end included. */
  issuers: readonly string[];
  /** One has to be among those of the token; none: any will do. */
  audiences: readonly string[];
  algorithms: readonly string[];
  /** The sets that the keys of an issuer may be in. */
  keySets(issuer: string): readonly JwksCache[];
  /** The wall clock, in milliseconds. */
  time(): number;
}

/** A token that is good. */
export interface VerifiedToken {
  header: Record<string, unknown>;
  payload: Record<string, unknown>;
  signature: string;
}

/** A token that is not good; its message says why, for the log. */
export class InvalidToken extends Error {}

/**
 * Checks a token.
 * @param typ that its header has to have; undefined: any.
 * @throws {InvalidToken}
 * @throws {KeysUnavailable} when nothing can be said about it.
 */
export async function verifyToken(token: string, typ: string | undefined, rules: TokenRules): Promise<VerifiedToken> {
  const { header, issuer } = readToken(token);
  // Before a key is looked for: who can be told from here causes no requests to the issuer.
  if (!rules.algorithms.includes(header.alg ?? '')) throw new InvalidToken('its algorithm is not one of those allowed');
  if (issuer === undefined || !rules.issuers.includes(issuer))
    throw new InvalidToken('its issuer is not one of those allowed');
  const [protectedPart = '', payloadPart = '', signature = ''] = token.split('.');
  const input = { protected: protectedPart, payload: payloadPart, signature };
  const goodWith = async (keys: readonly CryptoKey[]): Promise<VerifiedToken | undefined> => {
    for (const key of keys) {
      const payload = await verified(token, key, typ, issuer, rules);
      if (payload) return { header, payload, signature };
    }
    return undefined;
  };
  let unavailable: KeysUnavailable | undefined;
  try {
    const unknowing: JwksCache[] = [];
    // All that is known first: an issuer that answers slowly is not waited for when there is a key.
    for (const keySet of rules.keySets(issuer)) {
      const keys = await keySet.knownKeys(header, input);
      if (keys.length === 0) unknowing.push(keySet);
      const good = await goodWith(keys);
      if (good) return good;
    }
    for (const keySet of unknowing) {
      const keys = await keySet.findKeys(header, input).catch((error) => {
        if (!(error instanceof KeysUnavailable)) throw error;
        unavailable = error;
        return [];
      });
      const good = await goodWith(keys);
      if (good) return good;
    }
  } catch (error) {
    throw badToken(error);
  }
  throw unavailable ?? new InvalidToken('it is not signed with a key of its issuer');
}

function readToken(token: string) {
  try {
    return { header: decodeProtectedHeader(token), issuer: decodeJwt(token).iss };
  } catch {
    throw new InvalidToken('it is not a well-formed token');
  }
}

/** @returns undefined when another key signed it. */
async function verified(
  token: string,
  key: CryptoKey,
  typ: string | undefined,
  issuer: string,
  { audiences, algorithms, time }: TokenRules,
): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtVerify(token, key, {
      issuer,
      audience: audiences.length > 0 ? [...audiences] : undefined,
      algorithms: [...algorithms],
      typ,
      clockTolerance: CLOCK_TOLERANCE,
      currentDate: new Date(time()),
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return undefined;
    throw error;
  }
}

/** Whatever is wrong with a token or its key: nobody comes in with it. */
function badToken(error: unknown): InvalidToken {
  return error instanceof InvalidToken
    ? error
    : new InvalidToken(error instanceof Error ? error.message : String(error));
}
