// Works on the jobs that are due: one step each, in any process of any node.

import type { Logger } from 'pino';
import { describeFailure } from '../../runtime/describe-failure.ts';
import { awayDelay, isHopeless, retryDelay } from './backoff.ts';
import type { JobContext, Step } from './context.ts';
import { asJobFailure, isAway, isTransient, JobFailure } from './failures.ts';
import { awaitsRevocation, type CertificateJob, type JobState } from './job.ts';
import { LeaseLost } from './job-store.ts';
import { checkRecords, preflight } from './steps/check-records.ts';
import { finalize } from './steps/finalize.ts';
import { placeOrder } from './steps/place-order.ts';
import { renew } from './steps/renew.ts';
import { isRevocationDue, revoke } from './steps/revoke.ts';
import { validate } from './steps/validate.ts';
import { latestTry } from './waits.ts';

/** The longest time that a step may take; milliseconds. Another process goes on with it then. */
const LEASE_MS = 120_000;
/** Steps at once. Most of them wait for the authority. */
const CONCURRENT = 8;
/** How soon an order is continued when the authority did not answer; milliseconds. */
const AGAIN_MS = 60_000;
/** The longest time without a look at the database, and the shortest between two. */
const PAUSE_MS = { min: 50, max: 30_000 };

const STEPS: Record<JobState, Step> = {
  WAITING_DNS: checkRecords,
  PREFLIGHT: preflight,
  ORDERING: placeOrder,
  VALIDATING: validate,
  FINALIZING: finalize,
  ISSUED: renew,
  FAILED_RETRYING: checkRecords,
  PAUSED: checkRecords,
};

export interface RunnerOptions extends JobContext {
  log: Logger;
}

export class CertificateJobs {
  readonly #options: RunnerOptions;
  readonly #running = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isStopped = false;
  #isAskedAgain = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** Looks for jobs that are due, now and whenever one may be. */
  wake(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    if (this.#looking) {
      this.#isAskedAgain = true;
      return;
    }
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
      if (this.#isAskedAgain) this.wake();
    });
  }

  /** Cancels requests to the authority, and waits until the steps under way are stored. */
  async close(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#options.authority.cancel();
    await this.#looking;
    await Promise.all(this.#running);
  }

  async #look(): Promise<void> {
    this.#isAskedAgain = false;
    const { store, now, log } = this.#options;
    let pauseMs = PAUSE_MS.max;
    try {
      const free = CONCURRENT - this.#running.size;
      if (free === 0) return; // The next step that ends looks again.
      const jobs = await store.claim(now(), LEASE_MS, free);
      for (const job of jobs) this.#start(job);
      const dueAt = jobs.length === free ? null : await store.nextDueAt();
      if (dueAt !== null) pauseMs = Math.min(Math.max(dueAt - now(), PAUSE_MS.min), PAUSE_MS.max);
    } catch (error) {
      log.warn({ err: describeFailure(error) }, 'certificates cannot be worked on; trying again');
    }
    if (!this.#isStopped) this.#timer = setTimeout(() => this.wake(), pauseMs).unref();
  }

  #start(job: CertificateJob): void {
    const running = this.#run(job).finally(() => {
      this.#running.delete(running);
      this.wake();
    });
    this.#running.add(running);
  }

  /** Never rejects. */
  async #run(job: CertificateJob): Promise<void> {
    const { log, authority } = this.#options;
    const { keyNumber, accountNumber } = authority;
    const about = { certificate: job.id, names: job.names, state: job.state };
    try {
      await this.#step(job).catch((error) => this.#failed(job, error, { keyNumber, accountNumber }));
    } catch (error) {
      // Nothing was stored: the lease ends, and the same step begins again.
      if (!(error instanceof LeaseLost))
        log.warn(
          { ...about, err: describeFailure(error) },
          'a step of a certificate could not be stored; it is repeated',
        );
    }
  }

  async #step(job: CertificateJob): Promise<void> {
    const { store, authority, now } = this.#options;
    // An order at the authority that was configured before is nothing to this one.
    if (job.order && job.order.directoryUrl !== authority.directoryUrl)
      return store.save(job, { state: 'PREFLIGHT', order: null, nextAt: now() });
    const step = isRevocationDue(job, now()) ? revoke : STEPS[job.state];
    await step(job, this.#options);
  }

  /** @param used the key and the account that the step was begun with. */
  async #failed(
    job: CertificateJob,
    error: unknown,
    used: { keyNumber: number; accountNumber: number },
  ): Promise<void> {
    if (error instanceof LeaseLost) throw error;
    const { store, authority, now, random, log } = this.#options;
    if (this.#isStopped) return store.save(job, { nextAt: now() }); // Requests were cancelled; another process goes on.
    // The step was signed with a key that the account no longer has: it is repeated, and has not failed.
    if (await authority.wasKeyChanged(error, used.keyNumber)) return store.save(job, { nextAt: now() });
    // Nobody else may go on with what the account before has ordered.
    if (await authority.wasAccountReplaced(error, used.accountNumber))
      return store.save(job, { ...(job.order && { state: 'PREFLIGHT', order: null }), nextAt: now() });
    await authority.noteRefusal(error);
    const at = now();
    const failure = asJobFailure(error, at);
    const about = { certificate: job.id, names: job.names, state: job.state, attempts: job.attempts + 1 };
    if (!failure) log.error({ ...about, err: describeFailure(error) }, 'unexpected error in a step of a certificate');
    const found = failure ?? new JobFailure('unexpected', 'An unexpected error; the log of the gateway has it.');
    const { errorCode, needsPerson } = found;
    const message = `${found.message}${authority.clockProblem}`;
    const latest = latestTry(job, at);
    const blockedUntil = found.blockedUntil === undefined ? undefined : Math.min(found.blockedUntil, latest);
    // Not all of them at the same moment.
    const spread = AGAIN_MS * random();
    const freeAt = blockedUntil === undefined ? 0 : blockedUntil + spread;
    if (job.order && isTransient(error) && at <= job.order.expiresAt) {
      // The order is good as long as nobody has said otherwise: another one would count twice.
      const nextAt = Math.max(at + AGAIN_MS, freeAt);
      log.warn(
        { ...about, errorCode, message },
        'the certificate authority did not answer; the order is continued later',
      );
      return store.save(job, { errorCode, message, blockedUntil: blockedUntil ?? null, nextAt });
    }
    // One that has expired is as good as none.
    const inForce = job.certificate && job.certificate.notAfter > at ? job.certificate : undefined;
    // Nothing was ordered, and nothing refused: the names have not failed.
    const wasAway = job.order === null && isAway(error);
    const attempts = wasAway ? job.attempts : job.attempts + 1;
    const isGivenUp = inForce === undefined && !wasAway && isHopeless(at - job.startedAt, { attempts });
    // A revocation that the authority has not answered yet is tried again, too.
    const isRevoking = awaitsRevocation(job);
    // Nobody asks for the gateway's own names to be tried again.
    const isPaused = job.domain !== null && !isRevoking && (needsPerson || isGivenUp);
    const remaining = inForce && inForce.notAfter - at;
    const awayCount = wasAway ? job.awayCount + 1 : 0;
    const delay = wasAway ? awayDelay(awayCount, random()) : retryDelay(attempts, remaining, random());
    const nextAt = isPaused ? null : Math.max(Math.min(at + delay, latest + spread), freeAt);
    log.warn(
      { ...about, errorCode, message, nextAt: nextAt && new Date(nextAt).toISOString() },
      'certificate not issued',
    );
    await store.fail(
      job,
      {
        state: isPaused ? 'PAUSED' : 'FAILED_RETRYING',
        attempts,
        awayCount,
        errorCode,
        message,
        order: null,
        blockedUntil: blockedUntil ?? null,
        nextAt,
      },
      at,
      awayCount <= 1, // As long as it is away, once is enough.
    );
  }
}
