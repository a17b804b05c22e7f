// The gateway's account at the certificate authority: one for all nodes, made once.

import type { Logger } from 'pino';
import { describeFailure } from '../../runtime/describe-failure.ts';
import { newAccountKey } from '../client/account-key.ts';
import { AcmeClient, type AcmeClientOptions } from '../client/client.ts';
import { AcmeProblem, AcmeUnreachable } from '../client/problem.ts';
import type { AcmeSettings } from '../settings.ts';
import { accountGone, JobFailure } from './failures.ts';
import type { CertificateJob } from './job.ts';
import type { JobStore } from './job-store.ts';
import { changeAccountKey, type KeyChange } from './key-change.ts';
import { grantedWait, isBlocked, isUrgent } from './waits.ts';

/** How long what the authority offers is believed; milliseconds. */
const REFRESH_MS = 3_600_000;
const UNAVAILABLE = 503;
/** A clock that differs by more from the authority's is told of; milliseconds. */
const CLOCK_MS = 300_000;
/** How often an account is replaced by itself in an hour at most: an authority may say of every one that it is gone. */
const REPLACED_MAX = 2;

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
  /** The URL of the account that was used last, how often it was replaced, and when of late. */
  #accountUrl = '';
  #accountNumber = 0;
  #replacedAt: number[] = [];
  /** How far the clock of the gateway was ahead of the authority's at its last answer. */
  #aheadMs = 0;

  /** @param now the wall clock, in milliseconds. */
  constructor(
    settings: AcmeSettings,
    options: Omit<AcmeClientOptions, 'directoryUrl' | 'signal'>,
    store: JobStore,
    now: () => number,
    log: Logger,
  ) {
    this.#settings = settings;
    this.#options = { ...options, onDate: (date) => this.#noteClock(date) };
    this.#store = store;
    this.#now = now;
    this.#log = log;
  }

  get directoryUrl(): string {
    return this.#settings.acmeDirectoryUrl;
  }

  /**
   * A client with an account.
   * @param job for which it is; one whose certificate is about to end waits for nobody.
   * @throws {JobFailure} when the authority wants more than is configured, or no request yet.
   */
  async client(job?: Pick<CertificateJob, 'certificate'>): Promise<AcmeClient> {
    const waits = job === undefined || !isUrgent(job, this.#now());
    if (waits) this.#checkBlock();
    const now = performance.now();
    if (this.#opened && now - this.#openedAt < REFRESH_MS) return this.#opened;
    this.#openedAt = now;
    const opened = this.#open(waits);
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
    if (isWhole && error.retryAfterMs !== undefined) await this.#block(grantedWait(error.retryAfterMs));
  }

  /**
   * Whether a refusal was that of an account which is gone, and clients have another one from now on. One that the authority has
   * forgotten is made again with its key, unless another job or node has done so; one that was deactivated never works again with its
   * key, and gets another one.
   * @param accountNumber as it was before the request.
   */
  async wasAccountReplaced(error: unknown, accountNumber: number): Promise<boolean> {
    const gone = accountGone(error);
    if (!gone) return false;
    if (accountNumber !== this.#accountNumber) return true;
    const now = performance.now();
    this.#replacedAt = this.#replacedAt.filter((at) => now - at < REFRESH_MS);
    if (this.#replacedAt.length >= REPLACED_MAX) return false;
    this.#replacedAt.push(now);
    const { privateKey, url } = await this.#store.account(this.directoryUrl, newAccountKey);
    if (privateKey === this.#key && url === this.#accountUrl)
      await this.#store.replaceAccount(
        this.directoryUrl,
        privateKey,
        gone === 'deactivated' ? newAccountKey : undefined,
      );
    this.#log.warn(
      { reason: (error as Error).message },
      'the account at the certificate authority is gone; it is replaced',
    );
    this.#accountNumber++;
    this.#opened = undefined;
    return true;
  }

  /** What is wrong with the clock, for people; '' for nothing. */
  get clockProblem(): string {
    const minutes = Math.round(Math.abs(this.#aheadMs) / 60_000);
    if (Math.abs(this.#aheadMs) < CLOCK_MS) return '';
    return ` The clock of this gateway is ${minutes} minutes ${this.#aheadMs > 0 ? 'ahead of' : 'behind'} that of the certificate authority.`;
  }

  /** How often the account was replaced. */
  get accountNumber(): number {
    return this.#accountNumber;
  }

  /** Somebody has changed the account, its key, or how long it waits: clients are opened anew, which completes the change of a key. */
  reopen(): void {
    this.#opened = undefined;
    this.#blockedUntil = 0;
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
    if (!isBlocked(this.#blockedUntil, this.#now())) return;
    throw new JobFailure(
      'authorityUnreachable',
      `The certificate authority has asked for no requests before ${new Date(this.#blockedUntil).toISOString().replace(/\.\d+/, '')}.`,
      { blockedUntil: this.#blockedUntil },
    );
  }

  #noteClock(date: number): void {
    const before = this.clockProblem;
    this.#aheadMs = this.#now() - date;
    const problem = this.clockProblem;
    if (problem !== '' && before === '') this.#log.warn({ aheadMs: this.#aheadMs }, problem.trim());
  }

  #close(): void {
    void this.#opened?.then(
      (client) => client.close(),
      () => {},
    );
    this.#opened = undefined;
  }

  /** @param waits whether nothing is asked before the time that the authority has named. */
  async #open(waits: boolean): Promise<AcmeClient> {
    const stored = await this.#store.account(this.directoryUrl, newAccountKey);
    this.#blockedUntil = stored.blockedUntil ?? 0;
    if (waits) this.#checkBlock();
    this.#noteKey(stored.privateKey);
    this.#accountUrl = stored.url;
    const options = { ...this.#options, directoryUrl: this.directoryUrl, signal: this.#ending.signal };
    const client = new AcmeClient(options, stored.privateKey, stored.url || undefined);
    try {
      if (!stored.url) await this.#openAccount(client);
      if (stored.nextPrivateKey !== null) return await this.#changeKey(client, stored.nextPrivateKey, options, waits);
      return client;
    } catch (error) {
      client.close();
      // Every job would ask for the account again.
      if (error instanceof AcmeProblem && error.retryAfterMs !== undefined)
        await this.#block(grantedWait(error.retryAfterMs, error.status));
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
    this.#accountUrl = url;
  }

  /** @returns a client with the key that the account has then. */
  async #changeKey(
    client: AcmeClient,
    nextKey: string,
    options: AcmeClientOptions,
    waits: boolean,
  ): Promise<AcmeClient> {
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
      return this.#open(waits);
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
