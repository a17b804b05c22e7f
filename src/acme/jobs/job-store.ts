// What the jobs need of the database.

import type { CertificateJob, Challenge, IssuedCertificate, JobPatch } from './job.ts';

/** Another process works on the job meanwhile: nothing of this step was stored. */
export class LeaseLost extends Error {}

/** The gateway's account at an authority. */
export interface StoredAccount {
  /** '' until the authority has told it. */
  url: string;
  /** In PEM. */
  privateKey: string;
  /** The key that the account is being given, in PEM: the authority may have it already. */
  nextPrivateKey: string | null;
  /** The authority wants no request before then; milliseconds since 1970. */
  blockedUntil: number | null;
}

/** An order that is to be placed, as the limits count it. */
export interface NewOrder {
  directoryUrl: string;
  registeredDomain: string;
  /** Of a certificate whose renewal is due. */
  isRenewal: boolean;
  now: number;
}

/** Earlier orders, as the limits see them: the newest first. Times are in milliseconds since 1970. */
export interface EarlierOrders {
  /** At the same authority. */
  all: readonly number[];
  /** That gave certificates, or may still, for names of the same registered domain. */
  ofRegisteredDomain: readonly number[];
  /** The same for exactly the same names. */
  ofSameNames: readonly number[];
  /** That failed or were abandoned, for one of the names. */
  failed: readonly number[];
}

export interface JobStore {
  /**
   * Takes jobs whose next step is due, until `now + leaseMs` at most. No other process has them meanwhile. A time that lies further
   * ahead than any wait of its kind was written by a clock that was wrong, and counts as due.
   */
  claim(now: number, leaseMs: number, limit: number): Promise<CertificateJob[]>;
  /** When the next job is due that nobody works on; null when none ever is. */
  nextDueAt(): Promise<number | null>;
  /** Ends the step. @throws {LeaseLost} */
  save(job: CertificateJob, patch: JobPatch): Promise<void>;
  /** Has every node answer these challenges, and no others for this job. The step goes on. @throws {LeaseLost} */
  publish(job: CertificateJob, challenges: readonly Challenge[], expiresAt: number): Promise<void>;
  challengesOf(job: CertificateJob): Promise<readonly Challenge[]>;
  /**
   * Counts an order before it is placed, so that no crash makes it uncounted.
   * @param check returns when the limits allow it: a time that has not come leaves it uncounted.
   * @returns the id of its row in the history, or the time.
   */
  countOrder(
    job: CertificateJob,
    order: NewOrder,
    check: (earlier: EarlierOrders) => { until: number; reason: string } | undefined,
  ): Promise<{ recordId: string } | { until: number; reason: string }>;
  /** Shows the certificate to visitors, and ends the step and the order. */
  install(job: CertificateJob, patch: JobPatch, issued: IssuedCertificate, at: number): Promise<void>;
  /**
   * Ends the step and, where one was counted, the order, with the reason that is in the patch.
   * @param isTold whether the account gets an event.
   */
  fail(job: CertificateJob, patch: JobPatch, at: number, isTold: boolean): Promise<void>;
  /** The account, or a new one with this key, of which only one is ever made. */
  account(directoryUrl: string, newKey: () => Promise<string>): Promise<StoredAccount>;
  saveAccount(directoryUrl: string, change: Partial<Pick<StoredAccount, 'url' | 'blockedUntil'>>): Promise<void>;
  /**
   * Has an account made anew, unless another process has replaced this one.
   * @param privateKey of the account that is gone, in PEM. @param newKey left out: the next one has the same key.
   */
  replaceAccount(directoryUrl: string, privateKey: string, newKey?: () => Promise<string>): Promise<void>;
  /**
   * Ends the change to this key: it is the account's from now on, or it is dropped.
   * @returns false when another process has ended that change, so that nothing is stored.
   */
  endKeyChange(directoryUrl: string, nextPrivateKey: string, isDone: boolean): Promise<boolean>;
}
