// The key of an account, which signs every request (JWS, RFC 7515; RFC 8555, section 6.2). It is an ECDSA key on P-256 (ES256).

import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { FlattenedJWS, JWK } from 'jose';
import { lazyPackage } from '../../runtime/lazy-package.ts';

const jose = lazyPackage<typeof import('jose')>('jose');

/** Makes the key of an account, in PEM (PKCS #8). It must be no key of a certificate (RFC 8555, section 11.1). */
export async function newAccountKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  return privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
}

/** What a JWS says of itself, besides its algorithm and its key. */
export interface JwsHeader {
  url: string;
  nonce?: string;
}

export class AccountKey {
  readonly #privateKey: KeyObject;
  readonly publicJwk: JWK;

  /** @throws when it is not what `newAccountKey` returned. */
  constructor(pem: string) {
    const wrong = 'The key of an ACME account must be an ECDSA key on the curve P-256 in PEM (PKCS #8).';
    try {
      this.#privateKey = createPrivateKey(pem);
    } catch (cause) {
      throw new Error(wrong, { cause });
    }
    if (this.#privateKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error(wrong);
    this.publicJwk = createPublicKey(this.#privateKey).export({ format: 'jwk' }) as JWK;
  }

  /**
   * Signs a request. @param payload undefined: POST-as-GET (RFC 8555, section 6.3).
   * @param accountUrl the account whose key this is; undefined: the key is sent itself.
   */
  sign(payload: unknown, header: JwsHeader, accountUrl: string | undefined): Promise<FlattenedJWS> {
    const key = accountUrl === undefined ? { jwk: this.publicJwk } : { kid: accountUrl };
    return new (jose().FlattenedSign)(encode(payload))
      .setProtectedHeader({ alg: 'ES256', ...header, ...key })
      .sign(this.#privateKey);
  }

  /** What answers a challenge with this token (RFC 8555, section 8.1). @throws when it is no token: it becomes part of a path. */
  async keyAuthorization(token: string): Promise<string> {
    if (!/^[\w-]+$/.test(token)) throw new Error('The token of a challenge must be base64url.');
    return `${token}.${await jose().calculateJwkThumbprint(this.publicJwk, 'sha256')}`;
  }

  /** The value of the TXT record that answers the challenge dns-01 (RFC 8555, section 8.4). */
  async dnsValue(token: string): Promise<string> {
    return createHash('sha256')
      .update(await this.keyAuthorization(token))
      .digest('base64url');
  }
}

/** The external account that an authority binds a new account to (EAB). */
export interface ExternalAccount {
  kid: string;
  hmacKeyBase64Url: string;
}

/** Signs the key of an account with the key of the external account (RFC 8555, section 7.3.4). @throws when that is no key. */
export async function bindExternalAccount(
  { kid, hmacKeyBase64Url }: ExternalAccount,
  key: AccountKey,
  url: string,
): Promise<FlattenedJWS> {
  // Authorities also print the usual base64, with padding.
  if (!/^[\w+/-]+={0,2}$/.test(hmacKeyBase64Url))
    throw new Error('The HMAC key of the external account must be base64url, as the certificate authority shows it.');
  return new (jose().FlattenedSign)(encode(key.publicJwk))
    .setProtectedHeader({ alg: 'HS256', kid, url })
    .sign(Buffer.from(hmacKeyBase64Url, 'base64url'));
}

const encode = (payload: unknown) =>
  payload === undefined ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(payload));
