// Digests and encryption of secrets, with keys derived from the server key. Secrets that are only compared are stored as digests.

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The keys of this gateway, all derived from the one server key (HKDF-SHA-256, RFC 5869). */
export interface Keys {
  /** HMAC-SHA-256 of a secret in base64url. The database stores only this of an API key or an authtoken. */
  digest(secret: string): string;
  /** The digests under the current key and, during a rotation, under the previous key. */
  digests(secret: string): string[];
  /**
   * Encrypts a text with AES-256-GCM.
   * @param place the associated data: it names the table, row and member, and the text can be decrypted only with the same.
   */
  seal(text: string, place: string): string;
  /** Decrypts what `seal` returned for the same place. @throws when it was made for another place, or with an unknown key. */
  open(sealed: string, place: string): string;
  /** The key that signs the tokens which the gateway gives to agents. */
  tokenKey: Buffer;
  /** A value that identifies the server key without revealing it. The database stores it. */
  check: string;
  /** The check value of the previous key. */
  previousCheck: string | undefined;
}

interface Derived {
  id: string;
  hmac: Buffer;
  cipher: Buffer;
  tokenKey: Buffer;
  check: string;
}

/**
 * @param current 32 bytes.
 * @param previous the key before it, during a rotation. It is used to verify and decrypt only.
 */
export function deriveKeys(current: Buffer, previous?: Buffer): Keys {
  const now = derive(current);
  const before = previous && derive(previous);
  const known = before ? [now, before] : [now];

  return {
    digest: (secret) => digestWith(now, secret),
    digests: (secret) => known.map((key) => digestWith(key, secret)),
    seal(text, place) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', now.cipher, iv).setAAD(Buffer.from(place));
      const body = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `v1.${now.id}.${body.toString('base64url')}`;
    },
    open(sealed, place) {
      const [version, id, body = ''] = sealed.split('.');
      const key = known.find((candidate) => candidate.id === id);
      if (version !== 'v1' || !key) throw new Error(`A stored secret of ${place} was made with a key that is not here`);
      const bytes = Buffer.from(body, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key.cipher, bytes.subarray(0, IV_BYTES))
        .setAAD(Buffer.from(place))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    },
    tokenKey: now.tokenKey,
    check: now.check,
    previousCheck: before?.check,
  };
}

function derive(key: Buffer): Derived {
  const part = (purpose: string) => Buffer.from(hkdfSync('sha256', key, '', `tunnel-gateway ${purpose}`, 32));
  const check = part('check').toString('base64url');
  return {
    id: check.slice(0, 6).replaceAll('.', '_'),
    hmac: part('hmac'),
    cipher: part('cipher'),
    tokenKey: part('agent tokens'),
    check,
  };
}

function digestWith(key: Derived, secret: string): string {
  return createHmac('sha256', key.hmac).update(secret).digest('base64url');
}
