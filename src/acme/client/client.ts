// A client of ACME servers (RFC 8555), with renewal information (RFC 9773) and profiles of certificates
// (draft-ietf-acme-profiles). It never waits: where a server wants that, the result or the error says for how long.

import { X509Certificate } from 'node:crypto';
import { AccountKey, bindExternalAccount, type ExternalAccount } from './account-key.ts';
import { alternatesOf, isIssuedBy, parseChain } from './certificate-chain.ts';
import { AcmeHttp, type AcmeHttpOptions, type AcmeHttpResponse } from './http-exchange.ts';
import { errorOf } from './json-response.ts';
import { AcmeProblem, AcmeUnreachable } from './problem.ts';
import { parseRenewalInformation, type RenewalInformation } from './renewal-information.ts';
import {
  type AcmeAuthorization,
  type AcmeChallenge,
  type AcmeDirectory,
  type AcmeOrder,
  parseAuthorization,
  parseChallenge,
  parseDirectory,
  parseOrder,
} from './resources.ts';
import { checkServerUrl } from './server-url.ts';
import { SignedRequests } from './signed-requests.ts';

export interface AcmeClientOptions extends AcmeHttpOptions {
  /** Begins with `https://`; at loopback addresses also with `http://`. */
  directoryUrl: string;
}

export interface NewAcmeAccount {
  /** URLs such as `mailto:admin@example.com`. */
  contact?: readonly string[];
  /** A person has agreed to the terms that the directory names. */
  termsOfServiceAgreed: true;
  eab?: ExternalAccount;
}

export interface NewAcmeOrder {
  names: readonly string[];
  /** One of those that the directory names; the server chooses when it is left out. */
  profile?: string;
  /** The certificate that is renewed, as `ariCertificateId` names it. Refused with `alreadyReplaced` when another order did. */
  replaces?: string;
}

/** A server names a few at most. */
const ALTERNATES_MAX = 8;

/**
 * Talks to one ACME server for one account. Every method throws `AcmeProblem` with the words of the server when it refuses,
 * `AcmeUnreachable` when it gives no proper response, and the reason of the signal when that is aborted.
 */
export class AcmeClient {
  readonly #directoryUrl: string;
  readonly #http: AcmeHttp;
  readonly #requests: SignedRequests;
  #directory: Promise<AcmeDirectory> | undefined;
  #key: AccountKey;
  #accountUrl: string | undefined;

  /**
   * @param accountKeyPem as `newAccountKey` returned it. @param accountUrl what `openAccount` returned earlier.
   * @throws when an option or the key is not what it must be.
   */
  constructor({ directoryUrl, ...options }: AcmeClientOptions, accountKeyPem: string, accountUrl?: string) {
    checkServerUrl(directoryUrl);
    this.#directoryUrl = directoryUrl;
    this.#http = new AcmeHttp(options);
    this.#requests = new SignedRequests(this.#http, async () => (await this.directory()).newNonce);
    this.#key = new AccountKey(accountKeyPem);
    this.#accountUrl = accountUrl;
  }

  /** The URL of the account; undefined until it is opened. */
  get accountUrl(): string | undefined {
    return this.#accountUrl;
  }

  /** What the server offers. It is asked once. */
  directory(): Promise<AcmeDirectory> {
    this.#directory ??= this.#get(this.#directoryUrl)
      .then(parseDirectory)
      .catch((error) => {
        this.#directory = undefined;
        throw error;
      });
    return this.#directory;
  }

  /** Opens the account of the key, or finds the one that it has. @returns its URL, which the client uses from then on. */
  async openAccount({ contact, termsOfServiceAgreed, eab }: NewAcmeAccount): Promise<string> {
    const { newAccount } = await this.directory();
    const externalAccountBinding = eab && (await bindExternalAccount(eab, this.#key, newAccount));
    return this.#account({ termsOfServiceAgreed, contact, externalAccountBinding });
  }

  /** Finds the account of the key. Fails with `accountDoesNotExist` when it has none. @returns as `openAccount` does. */
  findAccount(): Promise<string> {
    return this.#account({ onlyReturnExisting: true });
  }

  /** @returns the order, which may be ready at once, or be an earlier one for the same names. */
  async newOrder({ names, profile, replaces }: NewAcmeOrder): Promise<AcmeOrder> {
    const identifiers = names.map((value) => ({ type: 'dns', value }));
    const response = await this.#post((await this.directory()).newOrder, { identifiers, profile, replaces });
    return parseOrder(response, locationOf(response));
  }

  /** @param url that of an order. */
  async order(url: string): Promise<AcmeOrder> {
    return parseOrder(await this.#post(url), url);
  }

  /** @param url one of those of an order. */
  async authorization(url: string): Promise<AcmeAuthorization> {
    return parseAuthorization(await this.#post(url));
  }

  /** Tells the server that a challenge can be validated (RFC 8555, section 7.5.1). */
  async ready(challengeUrl: string): Promise<AcmeChallenge> {
    return parseChallenge(await this.#post(challengeUrl, {}));
  }

  /** Asks for the certificate of an order that is ready. @param csr in DER. @returns the order, which is often `processing`. */
  async finalize({ url, finalize }: Pick<AcmeOrder, 'url' | 'finalize'>, csr: Buffer): Promise<AcmeOrder> {
    return parseOrder(await this.#post(finalize, { csr: csr.toString('base64url') }), url);
  }

  /**
   * Fetches a certificate with its chain, in PEM, the certificate of the names first.
   * @param preferredIssuer the common name of the issuer that the last certificate of the chain should have. When no chain
   * that the server offers has it, or such a chain cannot be fetched, the server's first choice is returned.
   */
  async certificate(url: string, { preferredIssuer }: { preferredIssuer?: string } = {}): Promise<string> {
    const response = await this.#chain(url);
    const chain = parseChain(response);
    if (preferredIssuer === undefined || isIssuedBy(chain, preferredIssuer)) return chain;
    for (const alternate of alternatesOf(response).slice(0, ALTERNATES_MAX))
      try {
        const other = parseChain(await this.#chain(alternate));
        if (isIssuedBy(other, preferredIssuer)) return other;
      } catch (error) {
        if (!(error instanceof AcmeProblem || error instanceof AcmeUnreachable)) throw error;
      }
    return chain;
  }

  /** @param certificateId as `ariCertificateId` returns it. @returns undefined when the server has no such information. */
  async renewalInfo(certificateId: string): Promise<RenewalInformation | undefined> {
    const { renewalInfo } = await this.directory();
    if (!renewalInfo) return undefined;
    return parseRenewalInformation(await this.#get(`${renewalInfo.replace(/\/$/, '')}/${certificateId}`));
  }

  /** Revokes a certificate of the account. @param reason a code of RFC 5280, section 5.3.1. */
  async revoke(leafPem: string, reason?: number): Promise<void> {
    const { revokeCert } = await this.directory();
    if (!revokeCert) throw new AcmeUnreachable('The ACME server does not offer to revoke certificates.');
    await this.#post(revokeCert, { certificate: new X509Certificate(leafPem).raw.toString('base64url'), reason });
  }

  /**
   * Gives the account another key (RFC 8555, section 7.3.5), which the client uses from then on. Store both keys before: when
   * no response arrives, `findAccount` tells which of them the account has.
   */
  async changeKey(newKeyPem: string): Promise<void> {
    const { keyChange } = await this.directory();
    if (!keyChange) throw new AcmeUnreachable('The ACME server does not offer to change the key of an account.');
    const key = new AccountKey(newKeyPem);
    const claim = { account: this.#openAccountUrl(), oldKey: this.#key.publicJwk };
    await this.#post(keyChange, await key.sign(claim, { url: keyChange }, undefined));
    this.#key = key;
  }

  /** What answers the challenge http-01, and is part of the others (RFC 8555, section 8.1). */
  keyAuthorization(token: string): Promise<string> {
    return this.#key.keyAuthorization(token);
  }

  /** The value of the TXT record that answers the challenge dns-01 (RFC 8555, section 8.4). */
  dnsValue(token: string): Promise<string> {
    return this.#key.dnsValue(token);
  }

  /** Closes the connections. */
  close(): void {
    this.#http.close();
  }

  async #account(members: object): Promise<string> {
    const { newAccount } = await this.directory();
    const response = await this.#requests.post(newAccount, members, { key: this.#key, accountUrl: undefined });
    this.#accountUrl = locationOf(response);
    return this.#accountUrl;
  }

  #post(url: string, payload?: unknown, accept?: string): Promise<AcmeHttpResponse> {
    return this.#requests.post(url, payload, { key: this.#key, accountUrl: this.#openAccountUrl() }, accept);
  }

  #chain(url: string): Promise<AcmeHttpResponse> {
    return this.#post(url, undefined, 'application/pem-certificate-chain');
  }

  async #get(url: string): Promise<AcmeHttpResponse> {
    const response = await this.#http.send({ method: 'GET', url });
    if (response.status >= 300) throw errorOf(response);
    return response;
  }

  #openAccountUrl(): string {
    if (this.#accountUrl === undefined) throw new Error('The ACME account must be opened before it is used.');
    return this.#accountUrl;
  }
}

/** Where a new object is. @throws {AcmeUnreachable} when the server does not say. */
function locationOf({ url, headers: { location } }: AcmeHttpResponse): string {
  const at = location && URL.parse(location, url);
  if (at) return at.href;
  throw new AcmeUnreachable(`The ACME server at ${new URL(url).host} did not say where the new object is.`);
}
