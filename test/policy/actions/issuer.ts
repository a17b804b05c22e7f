// An issuer of tokens on this machine: it publishes its keys, signs tokens, changes its keys, and can be away.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import { NOON } from '../exchange-support.ts';

export type Issuer = Awaited<ReturnType<typeof startIssuer>>;

export interface KeyPair {
  alg: string;
  kid: string | undefined;
  privateKey: CryptoKey;
  jwk: object;
}

export async function keyPair(alg = 'ES256', kid: string | undefined = 'first'): Promise<KeyPair> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), alg, use: 'sig', ...(kid && { kid }) } };
}

/** Claims that are good at `NOON`, but for what is said otherwise. */
export async function signed(key: KeyPair, claims: JWTPayload, header: Partial<JWTHeaderParameters> = {}) {
  const payload = { sub: 'user-1', aud: 'api', iat: NOON / 1000 - 10, exp: NOON / 1000 + 24 * 3600, ...claims };
  return new SignJWT(payload).setProtectedHeader({ alg: key.alg, kid: key.kid, ...header }).sign(key.privateKey);
}

export async function startIssuer(keys: KeyPair[]) {
  const answers = new Map<string, { status: number; body: string; location?: string }>();
  /** Paths that were asked for, in order. */
  const asked: string[] = [];
  let held: Promise<void> | undefined;
  const server = createServer(async (request, response) => {
    asked.push(request.url ?? '');
    await held;
    const { status, body, location } = answers.get(request.url ?? '') ?? { status: 404, body: '' };
    response.writeHead(status, {
      'Content-Type': 'application/json',
      Connection: 'close',
      ...(location && { location }),
    });
    response.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer = {
    url,
    jwks: `${url}/keys`,
    asked,
    answer(path: string, body: unknown, status = 200, location?: string) {
      answers.set(path, { status, body: typeof body === 'string' ? body : JSON.stringify(body), location });
    },
    /** Answers nothing from now on, until the returned function is called: then also what was asked meanwhile. */
    hold(): () => void {
      let release = () => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      return () => {
        held = undefined;
        release();
      };
    },
    /** Publishes these keys from now on. */
    publish(published: KeyPair[]) {
      issuer.answer('/keys', { keys: published.map(({ jwk }) => jwk) });
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
  issuer.publish(keys);
  const pages = { authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` };
  issuer.answer('/.well-known/openid-configuration', { issuer: url, jwks_uri: issuer.jwks, ...pages });
  return issuer;
}
