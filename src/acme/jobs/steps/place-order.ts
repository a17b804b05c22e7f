// ORDERING: places an order (RFC 8555, section 7.4), and has the nodes answer its challenges.

import type { AcmeClient } from '../../client/client.ts';
import { AcmeProblem } from '../../client/problem.ts';
import type { AcmeAuthorization } from '../../client/resources.ts';
import { answerTo } from '../challenge-answer.ts';
import { alternatives, challengeKind } from '../challenge-kind.ts';
import type { JobContext, Step } from '../context.ts';
import { JobFailure } from '../failures.ts';
import type { CertificateJob, Challenge } from '../job.ts';
import { limitReached } from '../limits.ts';
import { CHECKING } from './validate.ts';

/** How long an order is continued. Authorities let some live for eight hours only. */
const ORDER_LIFE_MS = 2 * 3_600_000;

export const placeOrder: Step = async (job, context) => {
  const client = await context.authority.client(job);
  if (!job.order) return order(job, context, client);
  const { store, now } = context;
  const { authorizations } = await client.order(job.order.url);
  const challenges: Challenge[] = [];
  for (const url of authorizations) {
    const authorization = await client.authorization(url);
    if (authorization.status === 'pending') challenges.push(...(await answersTo(job, authorization, context, client)));
  }
  // All of them before the authority is told of any: two of one name have two texts in the same record.
  await store.publish(job, challenges, job.order.expiresAt);
  await store.save(job, {
    state: 'VALIDATING',
    errorCode: null,
    message: CHECKING,
    nextAt: now(),
  });
};

async function order(job: CertificateJob, context: JobContext, client: AcmeClient): Promise<void> {
  const { authority, store, settings, now } = context;
  const { directoryUrl } = authority;
  const directory = await client.directory();
  const profile = settings.acmeProfile;
  const offered = Object.keys(directory.meta.profiles);
  if (profile !== undefined && !offered.includes(profile))
    throw new JobFailure(
      'obtainRefused',
      `ACME_PROFILE is "${profile}", and the certificate authority offers ${offered.join(', ') || 'no profiles'}.`,
    );
  const { renewalInfo } = job;
  const isSame = renewalInfo?.directoryUrl === directoryUrl && directory.renewalInfo !== undefined;
  const replaces = isSame && !renewalInfo.isReplaced ? renewalInfo.certificateId : undefined;
  const isRenewal = job.certificate !== null && job.renewsAt !== null && job.renewsAt <= now();
  const counted = await store.countOrder(
    job,
    {
      directoryUrl,
      registeredDomain: context.registeredDomain(job.names[0] ?? ''),
      isRenewal,
      now: now(),
    },
    (earlier) => (isRenewal ? undefined : limitReached(earlier, now())),
  );
  if ('until' in counted)
    throw new JobFailure('ownLimit', `No certificate is ordered now: ${counted.reason}.`, {
      blockedUntil: counted.until,
    });
  try {
    const { url, expires = Number.POSITIVE_INFINITY } = await client.newOrder({ names: job.names, profile, replaces });
    const order = {
      directoryUrl,
      url,
      recordId: counted.recordId,
      expiresAt: Math.min(expires, now() + ORDER_LIFE_MS),
    };
    await store.save(job, { state: 'ORDERING', order, awayCount: 0, nextAt: now() });
  } catch (error) {
    if (replaces === undefined || !isAlreadyReplaced(error)) throw error;
    // A crash between the issuance and its storage: the certificate in force has a successor that nobody has.
    await store.save(job, {
      state: 'ORDERING',
      renewalInfo: { ...(renewalInfo as object), isReplaced: true } as typeof renewalInfo,
      nextAt: now(),
    });
  }
}

const isAlreadyReplaced = (error: unknown) => error instanceof AcmeProblem && error.type === 'alreadyReplaced';

async function answersTo(
  job: CertificateJob,
  { name, challenges, wildcard }: AcmeAuthorization,
  context: JobContext,
  client: AcmeClient,
): Promise<Challenge[]> {
  const offered = alternatives(challengeKind(job)).flatMap(
    (kind) => challenges.find(({ type }) => type === kind) ?? [],
  );
  const [chosen] = offered;
  if (!chosen?.token)
    throw new JobFailure(
      'obtainRefused',
      `The certificate authority offers no challenge for ${name} that this gateway can answer, only ${challenges.map(({ type }) => type).join(', ') || 'none'}.`,
    );
  const { url, token } = chosen;
  // It becomes part of a path, and of a record.
  if (!/^[\w-]+$/.test(token))
    throw new JobFailure(
      'obtainRefused',
      `The certificate authority sent a challenge for ${name} whose token is not base64url (RFC 8555, section 8.1).`,
    );
  const value = await answerTo(client, { type: chosen.type, token });
  if (chosen.type === 'http-01') return [{ kind: 'http-01', name, token, value, url }];
  if (chosen.type === 'tls-alpn-01') return [{ kind: 'tls-alpn-01', name, token: '', value, url }];
  const places = context.textRecordsOf(job, wildcard ? `*.${name}` : name);
  return places.map((place) => ({ kind: 'dns-01' as const, name: place, token: '', value, url }));
}
