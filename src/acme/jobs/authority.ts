// The gateway's account at the certificate authority: one for all nodes, made once.

import type { Logger } from 'pino';
import { describeFailure } from '../../runtime/describe-failure.ts';
import { newAccountKey } from '../client/account-key.ts';
import { AcmeClient, type AcmeClientOptions } from '../client/client.ts';
import { AcmeProblem, AcmeUnreachable } from '../client/problem.ts';
import type { AcmeSettings } from '../settings.ts';
import { JobFailure } from './failures.ts';
import type { JobStore } from './job-store.ts';
import { changeAccountKey, type KeyChange } from './key-change.ts';

/** How long what the authority offers is believed; milliseconds. */
const REFRESH_MS = 3_600_000;
const UNAVAILABLE = 503;

export class AcmeAuthority {
  readonly #settings: AcmeSettings;
  readonly #options: Omit<AcmeClientOptions, 'directoryUrl' | 'signal'>;
  readonly #store: JobStore;
  readonly #now: () => number;
  readonly #log: Logger;
  readonly #ending = new AbortController();
  #opened: Promise<AcmeClient> | undefined;
  #openedAt = 0;
  #blockedUntil = 0;
  /** The key that was used last, in PEM, and how often it was another one than before. */
  #key: string | undefined;
  #keyNumber = 0;

  /** @param now the wall clock, in milliseconds. */
  constructor(
    settings: AcmeSettings,
    options: Omit<AcmeClientOptions, 'directoryUrl' | 'signal'>,
    store: JobStore,
    now: () => number,
    log: Logger,
  ) {
    this.#settings = settings;
    this.#options = options;
    this.#store = store;
    this.#now = now;
    this.#log = log;
  }

  get directoryUrl(): string {
    return this.#settings.acmeDirectoryUrl;
  }

  /** A client with an account. @throws {JobFailure} when the authority wants more than is configured, or no request yet. */
  async client(): Promise<AcmeClient> {
    this.#checkBlock();
    const now = performance.now();
    if (this.#opened && now - this.#openedAt < REFRESH_MS) return this.#opened;
    this.#openedAt = now;
    const opened = this.#open();
    this.#opened = opened;
    opened.catch(() => {
      if (this.#opened === opened) this.#opened = undefined;
    });
    return opened;
  }

  /**
   * An answer that is about the authority as a whole, and not about one order: it is overloaded or away, and has said until when.
   * No job asks it before, also not after a restart.
   */
  async noteRefusal(error: unknown): Promise<void> {
    const isWhole = error instanceof AcmeUnreachable || (error instanceof AcmeProblem && error.status === UNAVAILABLE);
    if (isWhole && error.retryAfterMs !== undefined) await this.#block(error.retryAfterMs);
  }

  /**
   * The authority knows the account no more: the next job makes one again, with the same key. Requests of other jobs go on, as each
   * of them finds out by itself.
   */
  async forgetAccount(): Promise<void> {
    this.#opened = undefined;
    await this.#store.saveAccount(this.directoryUrl, { url: '' });
  }

  /** The account is to have another key, or has it: clients are opened anew, which completes the change. */
  reopen(): void {
    this.#opened = undefined;
    this.client().catch((error) =>
      this.#log.warn({ err: describeFailure(error) }, 'the account at the certificate authority cannot be opened now'),
    );
  }

  /** Which key clients have. Another number is another key. */
  get keyNumber(): number {
    return this.#keyNumber;
  }

  /**
   * Whether a refusal was that of a key which the account no longer has, as another node has changed it. Clients have the new one then.
   * @param keyNumber as it was before the request. @throws when nobody can tell which key the account has.
   */
  async wasKeyChanged(error: unknown, keyNumber: number): Promise<boolean> {
    if (!(error instanceof AcmeProblem && /^(malformed|unauthorized)$/.test(error.type))) return false;
    if (keyNumber !== this.#keyNumber) return true;
    const { url, privateKey, nextPrivateKey } = await this.#store.account(this.directoryUrl, newAccountKey);
    // Without an account it is the key that was refused, and not that it was another one.
    if (!url || (privateKey === this.#key && nextPrivateKey === null)) return false;
    this.#opened = undefined;
    await this.client();
    return keyNumber !== this.#keyNumber;
  }

  /** Cancels all that is asked, for good. */
  cancel(): void {
    this.#ending.abort();
    this.#close();
  }

  async #block(ms: number): Promise<void> {
    this.#blockedUntil = this.#now() + ms;
    await this.#store.saveAccount(this.directoryUrl, { blockedUntil: this.#blockedUntil });
  }

  #checkBlock(): void {
    if (this.#blockedUntil <= this.#now()) return;
    throw new JobFailure(
      'authorityUnreachable',
      `The certificate authority has asked for no requests before ${new Date(this.#blockedUntil).toISOString().replace(/\.\d+/, '')}.`,
      { blockedUntil: this.#blockedUntil },
    );
  }

  #close(): void {
    void this.#opened?.then(
      (client) => client.close(),
      () => {},
    );
    this.#opened = undefined;
  }

  async #open(): Promise<AcmeClient> {
    const stored = await this.#store.account(this.directoryUrl, newAccountKey);
    this.#blockedUntil = stored.blockedUntil ?? 0;
    this.#checkBlock();
    this.#noteKey(stored.privateKey);
    const options = { ...this.#options, directoryUrl: this.directoryUrl, signal: this.#ending.signal };
    const client = new AcmeClient(options, stored.privateKey, stored.url || undefined);
    try {
      if (!stored.url) await this.#openAccount(client);
      if (stored.nextPrivateKey !== null) return await this.#changeKey(client, stored.nextPrivateKey, options);
      return client;
    } catch (error) {
      client.close();
      // Every job would ask for the account again.
      if (error instanceof AcmeProblem && error.retryAfterMs !== undefined) await this.#block(error.retryAfterMs);
      throw error;
    }
  }

  async #openAccount(client: AcmeClient): Promise<void> {
    const { acmeEab: eab, acmeEmail: email } = this.#settings;
    const { meta } = await client.directory();
    if (meta.externalAccountRequired && !eab)
      throw new JobFailure(
        'externalAccount',
        'The certificate authority wants an external account: set ACME_EAB_KID and ACME_EAB_HMAC_KEY to what it gave you.',
      );
    const contact = email === undefined ? [] : [`mailto:${email}`];
    const url = await client.openAccount({ contact, termsOfServiceAgreed: true, eab });
    await this.#store.saveAccount(this.directoryUrl, { url });
  }

  /** @returns a client with the key that the account has then. */
  async #changeKey(client: AcmeClient, nextKey: string, options: AcmeClientOptions): Promise<AcmeClient> {
    const next = new AcmeClient(options, nextKey, client.accountUrl);
    let change: KeyChange;
    try {
      change = await changeAccountKey(client, next, nextKey);
    } catch (error) {
      next.close();
      throw error;
    }
    const isDone = change.result === 'done';
    if (change.result !== 'done') this.#log.warn({ ...change }, 'the key of the ACME account is not changed');
    if (change.result !== 'later' && !(await this.#store.endKeyChange(this.directoryUrl, nextKey, isDone))) {
      // Another node was faster, and may have begun the next change since.
      for (const one of [client, next]) one.close();
      return this.#open();
    }
    if (isDone) this.#log.info('the key of the ACME account is changed');
    (isDone ? client : next).close();
    if (isDone) this.#noteKey(nextKey);
    return isDone ? next : client;
  }

  #noteKey(key: string): void {
    if (this.#key !== undefined && this.#key !== key) this.#keyNumber++;
    this.#key = key;
  }
}
