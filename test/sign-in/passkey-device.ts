// A device that makes passkeys, in software: ES256, and no attestation (WebAuthn Level 3, sections 6.1 and 6.5).

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** Where these tests have the dashboard. */
export const ORIGIN = 'https://gateway.example';

/** How an answer differs from a right one. */
export interface Wrongs {
  origin?: string;
  rpId?: string;
  challenge?: string;
  userHandle?: string;
  crossOrigin?: boolean;
  isUserVerified?: boolean;
  /** The counter of the device from now on. */
  counter?: number;
  /** The format of the attestation. */
  format?: string;
}

const [USER_PRESENT, USER_VERIFIED, HAS_KEY] = [0x01, 0x04, 0x40];
const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url');
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest();

/** A device with one passkey, once `create` was called. */
export class PasskeyDevice {
  readonly credentialId = randomBytes(32);
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  #counter = 0;
  #userHandle = '';

  /** Makes its passkey. @param options what `beginPasskey` has answered. */
  create({ challenge, rp, user }: CreationOptions, wrongs: Wrongs = {}) {
    this.#userHandle = user.id;
    const clientDataJSON = clientData('webauthn.create', challenge, wrongs);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.credentialId.length);
    const attested = Buffer.concat([Buffer.alloc(16), length, this.credentialId, coseKey(this.#keys.publicKey)]);
    const authData = Buffer.concat([this.#authenticatorData(rp.id, HAS_KEY, wrongs), attested]);
    const attestationObject = Buffer.concat([
      ...[Buffer.from([0xa3]), text('fmt'), text(wrongs.format ?? 'none'), text('attStmt'), Buffer.from([0xa0])],
      ...[text('authData'), bytes(authData)],
    ]);
    return this.#answer({
      ...{ clientDataJSON: base64url(clientDataJSON), attestationObject: base64url(attestationObject) },
      transports: ['internal', 'hybrid'],
    });
  }

  /** Signs with its passkey. @param options what `beginPasskeySignIn` has answered. */
  get({ challenge, rpId }: RequestOptions, wrongs: Wrongs = {}) {
    const clientDataJSON = clientData('webauthn.get', challenge, wrongs);
    const authenticatorData = this.#authenticatorData(rpId, 0, wrongs);
    const signature = sign('sha256', Buffer.concat([authenticatorData, sha256(clientDataJSON)]), this.#keys.privateKey);
    return this.#answer({
      ...{ clientDataJSON: base64url(clientDataJSON), authenticatorData: base64url(authenticatorData) },
      ...{ signature: base64url(signature), userHandle: wrongs.userHandle ?? this.#userHandle },
    });
  }

  #answer<T>(response: T) {
    const id = base64url(this.credentialId);
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }

  #authenticatorData(rpId: string, flags: number, wrongs: Wrongs): Buffer {
    const counter = Buffer.alloc(4);
    this.#counter = wrongs.counter ?? this.#counter;
    counter.writeUInt32BE(this.#counter);
    const verified = wrongs.isUserVerified === false ? 0 : USER_VERIFIED;
    return Buffer.concat([sha256(wrongs.rpId ?? rpId), Buffer.from([USER_PRESENT | verified | flags]), counter]);
  }
}

export interface RequestOptions {
  challenge: string;
  rpId: string;
}

export interface CreationOptions {
  challenge: string;
  rp: { id: string; name: string };
  user: { id: string; name: string };
  excludeCredentials: { id: string }[];
}

function clientData(type: string, challenge: string, { origin = ORIGIN, crossOrigin = false, ...wrongs }: Wrongs) {
  return JSON.stringify({ type, challenge: wrongs.challenge ?? challenge, origin, crossOrigin });
}

/** RFC 9053, section 7.1.1. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const point = (text: string) => bytes(Buffer.from(text, 'base64url'));
  // kty: EC2, alg: ES256, crv: P-256, then x (-2) and y (-3).
  const head = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01]);
  return Buffer.concat([head, Buffer.from([0x21]), point(x), Buffer.from([0x22]), point(y)]);
}

/** A text of CBOR (RFC 8949) of up to 23 bytes. */
const text = (value: string) => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);

/** A byte string of CBOR of 24 to 255 bytes. */
const bytes = (value: Buffer) => Buffer.concat([Buffer.from([0x58, value.length]), value]);
