// Runs bulk jobs: one of each account at a time, a few objects at once, so that clients do not notice.

import type { Logger } from 'pino';
import { describeFailure } from '../../runtime/describe-failure.ts';
import type { BulkItem, BulkJob, BulkJobStore } from '../../store/bulk/bulk-jobs.ts';
import type { ApiApp } from '../context.ts';
import { errorTable } from '../errors/error-table.ts';
import { toApiError } from '../errors/errors.ts';
import { runItem } from './run-item.ts';

const JOBS_MAX = 3;
const ITEMS_AT_ONCE = 4;
const BATCH = 50;
/** Progress is told so often at most; milliseconds. */
const REPORT_MS = 500;
/** How often it is looked whether there is a job that another node left; milliseconds. */
const LOOK_MS = 5000;
/** How often an object is tried that fails for no reason of its own. */
const ATTEMPTS = 3;

export interface RunnerParts {
  app: ApiApp;
  store: BulkJobStore;
  log: Logger;
  /** The monotonic clock, in milliseconds. */
  monotonic(): number;
}

export class BulkJobRunner {
  readonly #parts: RunnerParts;
  readonly #running = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #stopListening = () => {};
  #isLooking = false;
  #isClosed = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  start(): void {
    const { app } = this.#parts;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS).unref();
    this.#stopListening = app.changes.listen(({ kind, action }) => {
      if (kind === 'bulkJob' && action === 'CREATED') void this.#look();
    });
    void this.#look();
  }

  /** Leaves the jobs to whoever comes next, when the objects under way are done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#stopListening();
    await Promise.all(this.#running);
  }

  async #look(): Promise<void> {
    const { store, log } = this.#parts;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (!this.#isClosed && this.#running.size < JOBS_MAX) {
        const job = await store.take();
        if (!job) break;
        const work = this.#run(job).then((hasEnded) => {
          this.#running.delete(work);
          if (hasEnded) void this.#look();
        });
        this.#running.add(work);
      }
    } catch (error) {
      log.warn({ err: describeFailure(error) }, 'bulk jobs cannot be looked for; trying again');
    } finally {
      this.#isLooking = false;
    }
  }

  /** It never rejects. @returns whether it has come to an end. */
  async #run(job: BulkJob): Promise<boolean> {
    const { store, log } = this.#parts;
    try {
      if (await this.#runItems(job)) await store.finish(job);
      else await store.release(job);
      return true;
    } catch (error) {
      // Its lease ends by itself where the database is away.
      log.warn({ jobId: job.id, err: describeFailure(error) }, 'a bulk job was interrupted; it goes on later');
      await store.release(job).catch(() => undefined);
      return false;
    }
  }

  /** @returns whether all are done. */
  async #runItems(job: BulkJob): Promise<boolean> {
    const { store, monotonic } = this.#parts;
    let reportedAt = monotonic();
    for (;;) {
      const items = await store.pending(job, BATCH);
      if (items.length === 0) return true;
      for (let next = 0; next < items.length; next += ITEMS_AT_ONCE) {
        if (this.#isClosed) return false;
        const some = items.slice(next, next + ITEMS_AT_ONCE);
        const areDone = (await Promise.all(some.map((item) => this.#runOne(job, item)))).every((isDone) => isDone);
        if (areDone && monotonic() - reportedAt < REPORT_MS) continue;
        reportedAt = monotonic();
        if (!(await store.report(job))) return false;
      }
    }
  }

  /** @returns false when there was nothing to do. @throws what is not the object's fault. */
  async #runOne(job: BulkJob, item: BulkItem): Promise<boolean> {
    const { app, store, log } = this.#parts;
    for (let attempt = 1; ; attempt++) {
      try {
        return await runItem(app, job, item);
      } catch (thrown) {
        const { error, internalError } = toApiError(thrown);
        const { code, errorCode } = error.extensions as { code: string; errorCode: string };
        if (code === 'UNAVAILABLE') throw thrown;
        const isPassing = internalError !== undefined || error.row === errorTable.changedMeanwhile;
        if (isPassing && attempt < ATTEMPTS) continue;
        if (internalError !== undefined)
          log.error({ jobId: job.id, objectId: item.objectId, err: describeFailure(internalError) }, 'bulk job failed');
        await store.fail(job, item.objectId, { code: errorCode, message: error.message });
        return true;
      }
    }
  }
}
