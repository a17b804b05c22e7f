// VALIDATING: tells the authority that it may look, and waits for what it says (RFC 8555, section 7.5.1).

import type { AcmeClient } from '../../client/client.ts';
import type { AcmeChallenge, AcmeOrder } from '../../client/resources.ts';
import { answeredWithOtherKey } from '../challenge-answer.ts';
import type { Step } from '../context.ts';
import { JobFailure, ofProblem } from '../failures.ts';
import type { Challenge, OrderUnderWay } from '../job.ts';

/** How often an order is asked for, unless the authority says otherwise, and how often at most and at least; milliseconds. */
const POLL_MS = { usual: 2000, min: 500, max: 600_000 };

/** When an order is asked for again. */
export const pollAt = (now: number, { retryAfterMs = POLL_MS.usual }: AcmeOrder): number =>
  now + Math.min(Math.max(retryAfterMs, POLL_MS.min), POLL_MS.max);

export const CHECKING = 'The certificate authority checks that the names lead to this gateway.';

export const validate: Step = async (job, context) => {
  const { store, authority, now } = context;
  const client = await authority.client(job);
  const order = job.order as OrderUnderWay;
  if (!order.isTriggered) {
    const published = await store.challengesOf(job);
    const pending = await pendingOf(client, order.url, published);
    // The account has got another key since they were published: they are published again.
    if ((await answeredWithOtherKey(client, pending, published)).length > 0)
      return store.save(job, { state: 'ORDERING', nextAt: now() });
    for (const { url } of pending) await client.ready(url);
    return store.save(job, { order: { ...order, isTriggered: true }, nextAt: now() });
  }
  const state = await client.order(order.url);
  const failure = await failureOf(client, state, now());
  // The authority has looked after the account got another key: the names have not failed. They are ordered again.
  if (failure && (await isFailedByKey(client, state, await store.challengesOf(job))))
    return store.save(job, { state: 'PREFLIGHT', order: null, nextAt: now() });
  if (failure) throw failure;
  if (state.status === 'pending' && now() > order.expiresAt)
    throw new JobFailure('obtain', 'The certificate authority did not finish its checks in time.');
  if (state.status === 'pending')
    return store.save(job, { errorCode: null, message: CHECKING, nextAt: pollAt(now(), state) });
  await store.save(job, {
    state: 'FINALIZING',
    errorCode: null,
    message: 'The names are proved; the certificate is being issued.',
    nextAt: now(),
  });
};

/** Those of these challenges that the authority has not been told of: a process may have died before it noted that it told. */
async function pendingOf(
  client: AcmeClient,
  orderUrl: string,
  published: readonly Challenge[],
): Promise<AcmeChallenge[]> {
  const urls = new Set(published.map(({ url }) => url));
  const { authorizations } = await client.order(orderUrl);
  const all = await Promise.all(authorizations.map((url) => client.authorization(url)));
  const pending = all.filter(({ status }) => status === 'pending').flatMap(({ challenges }) => challenges);
  return pending.filter(({ url, status }) => urls.has(url) && status === 'pending');
}

/** Whether a challenge has failed that was answered for another key of the account. */
async function isFailedByKey(
  client: AcmeClient,
  { authorizations }: AcmeOrder,
  published: readonly Challenge[],
): Promise<boolean> {
  const all = await Promise.all(authorizations.map((url) => client.authorization(url)));
  const failed = all.flatMap(({ challenges }) => challenges).filter(({ error }) => error !== undefined);
  return (await answeredWithOtherKey(client, failed, published)).length > 0;
}

/** Some authorities leave a challenge that failed as it is, so that it could be tried again (RFC 8555, section 8.2). */
async function failureOf(client: AcmeClient, state: AcmeOrder, now: number): Promise<JobFailure | undefined> {
  if (state.status === 'invalid') return whyInvalid(client, state, now);
  return state.status === 'pending' ? failedChallenge(client, state, now) : undefined;
}

/** What the authority found wrong with an order. */
export async function whyInvalid(client: AcmeClient, order: AcmeOrder, now: number): Promise<JobFailure> {
  if (order.error) return ofProblem(order.error, now);
  return (
    (await failedChallenge(client, order, now)) ??
    new JobFailure('obtain', 'The certificate authority gave the order up without a reason.')
  );
}

async function failedChallenge(
  client: AcmeClient,
  { authorizations }: AcmeOrder,
  now: number,
): Promise<JobFailure | undefined> {
  for (const url of authorizations) {
    const { challenges, name, status } = await client.authorization(url);
    const error = challenges.find((challenge) => challenge.error)?.error;
    if (error) return ofProblem(error, now);
    if (status === 'invalid' || status === 'expired' || status === 'revoked' || status === 'deactivated')
      return new JobFailure('obtain', `The certificate authority says that the authorization of ${name} is ${status}.`);
  }
  return undefined;
}
