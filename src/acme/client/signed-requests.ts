// Signed requests to an ACME server, with the nonces that it wants (RFC 8555, section 6).

import type { AccountKey } from './account-key.ts';
import type { AcmeHttp, AcmeHttpResponse } from './http-exchange.ts';
import { errorOf, hostOf } from './json-response.ts';
import { AcmeProblem, AcmeUnreachable } from './problem.ts';

/** Servers forget nonces, so a few are kept, and the youngest is used first. */
const NONCES_MAX = 8;
/** Enough for servers that refuse a third of good nonces. */
const ATTEMPTS = 15;

export interface Signature {
  key: AccountKey;
  /** Undefined: the key is sent itself, for requests before there is an account. */
  accountUrl: string | undefined;
}

export class SignedRequests {
  readonly #http: AcmeHttp;
  readonly #newNonceUrl: () => Promise<string>;
  readonly #nonces: string[] = [];

  constructor(http: AcmeHttp, newNonceUrl: () => Promise<string>) {
    this.#http = http;
    this.#newNonceUrl = newNonceUrl;
  }

  /**
   * Sends a signed request, again at once when only its nonce is refused.
   * @param payload undefined: POST-as-GET. @returns the response, whose status is below 300.
   * @throws {AcmeProblem | AcmeUnreachable}
   */
  async post(
    url: string,
    payload: unknown,
    { key, accountUrl }: Signature,
    accept?: string,
  ): Promise<AcmeHttpResponse> {
    for (let attempt = 1; ; attempt++) {
      const nonce = this.#nonces.pop() ?? (await this.#fetchNonce());
      const body = JSON.stringify(await key.sign(payload, { url, nonce }, accountUrl));
      const response = await this.#http.send({ method: 'POST', url, accept, body });
      this.#keepNonce(response);
      if (response.status < 300) return response;
      const error = errorOf(response);
      const isNonceRefused = error instanceof AcmeProblem && error.type === 'badNonce';
      if (!isNonceRefused || attempt === ATTEMPTS) throw error;
    }
  }

  async #fetchNonce(): Promise<string> {
    const response = await this.#http.send({ method: 'HEAD', url: await this.#newNonceUrl() });
    if (response.status >= 300) throw errorOf(response);
    this.#keepNonce(response);
    const nonce = this.#nonces.pop();
    if (!nonce) throw new AcmeUnreachable(`The ACME server at ${hostOf(response)} answered without a nonce.`);
    return nonce;
  }

  #keepNonce({ headers: { 'replay-nonce': nonce } }: AcmeHttpResponse): void {
    if (typeof nonce !== 'string' || !/^[\w-]+$/.test(nonce)) return;
    this.#nonces.push(nonce);
    if (this.#nonces.length > NONCES_MAX) this.#nonces.shift();
  }
}
