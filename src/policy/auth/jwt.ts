// Verifies tokens (JWT, RFC 7519): the signature of a trusted issuer, the audience and the validity.

import { type CryptoKey, decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import { KeysUnavailable } from '../keys/key-cache.ts';
import type { JwksCache } from './jwks-cache.ts';

/** The accepted clock skew of an issuer; seconds. */
const CLOCK_TOLERANCE = 5;

/** The supported algorithms, which are all asymmetric: with a shared secret, every verifier could also sign. */
export const tokenAlgorithms: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** The requirements of a token. */
export interface TokenRules {
  /** The trusted issuers. They are compared exactly, including a trailing slash. */
  issuers: readonly string[];
  /** The accepted audiences, of which the token must have one. An empty list accepts any. */
  audiences: readonly string[];
  algorithms: readonly string[];
  /** The key sets of an issuer. */
  keySets(issuer: string): readonly JwksCache[];
  /** The wall clock, in milliseconds. */
  time(): number;
}

/** A valid token. */
export interface VerifiedToken {
  header: Record<string, unknown>;
  payload: Record<string, unknown>;
  signature: string;
}

/** A token is invalid. The message says why, for the log. */
export class InvalidToken extends Error {}

/**
 * Verifies a token.
 * @param typ the `typ` that its header must have; undefined for any.
 * @throws {InvalidToken} when the token is refused.
 * @throws {KeysUnavailable} when the issuer's keys cannot be fetched.
 */
export async function verifyToken(token: string, typ: string | undefined, rules: TokenRules): Promise<VerifiedToken> {
  const { header, issuer } = readToken(token);
  // All checks without a key come first, so that a forged token causes no request to the issuer.
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
    const withoutKey: JwksCache[] = [];
    // Cached keys come first, so that a slow issuer delays no token whose key is known.
    for (const keySet of rules.keySets(issuer)) {
      const keys = await keySet.knownKeys(header, input);
      if (keys.length === 0) withoutKey.push(keySet);
      const good = await goodWith(keys);
      if (good) return good;
    }
    for (const keySet of withoutKey) {
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

/** Verifies a token with one key. @returns undefined when the signature does not match. */
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

/** Turns any error of a token or its key into a refusal (fail closed). */
function badToken(error: unknown): InvalidToken {
  return error instanceof InvalidToken
    ? error
    : new InvalidToken(error instanceof Error ? error.message : String(error));
}
