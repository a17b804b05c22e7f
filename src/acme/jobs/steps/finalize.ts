// FINALIZING: has the certificate issued (RFC 8555, section 7.4), and shows it to visitors.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { newCertificateRequest } from '../../client/certificate-request.ts';
import { ariCertificateId } from '../../client/renewal-information.ts';
import type { JobContext, Step } from '../context.ts';
import { JobFailure } from '../failures.ts';
import { awaitsRevocation, type CertificateJob, type OrderUnderWay } from '../job.ts';
import { latestRenewal, nextCheck, usualRenewal } from '../renewal-time.ts';
import { pollAt, whyInvalid } from './validate.ts';

const ISSUING = 'The names are proved; the certificate is being issued.';
/** How long a certificate is waited for that is not valid yet; milliseconds. */
const NOT_YET_MAX_MS = 86_400_000;

export const finalize: Step = async (job, context) => {
  const { store, settings, authority, now } = context;
  const client = await authority.client(job);
  const order = job.order as OrderUnderWay;
  if (!order.request) {
    // The key is stored before it is used: a certificate whose key is lost would have to be ordered again.
    const { csr, privateKeyPem } = await newCertificateRequest(job.names, job.privateKeyType);
    return store.save(job, {
      order: { ...order, privateKey: privateKeyPem, request: csr.toString('base64url') },
      nextAt: now(),
    });
  }
  let state = await client.order(order.url);
  if (state.status === 'pending') return store.save(job, { state: 'VALIDATING', nextAt: now() });
  if (state.status === 'ready') state = await client.finalize(state, Buffer.from(order.request, 'base64url'));
  if (state.status === 'invalid') throw await whyInvalid(client, state, now());
  if (state.status !== 'valid' || state.certificate === undefined) {
    if (now() > order.expiresAt)
      throw new JobFailure('finalization', 'The certificate authority did not issue in time.');
    return store.save(job, { errorCode: null, message: ISSUING, nextAt: pollAt(now(), state) });
  }
  const chain = await client.certificate(state.certificate, { preferredIssuer: settings.acmePreferredChain });
  await install(job, context, { chain, privateKey: order.privateKey as string }, order);
};

async function install(
  job: CertificateJob,
  { store, now, random }: JobContext,
  issued: { chain: string; privateKey: string },
  { directoryUrl }: OrderUnderWay,
): Promise<void> {
  const leaf = new X509Certificate(issued.chain);
  const validity = { notBefore: Date.parse(leaf.validFrom), notAfter: Date.parse(leaf.validTo) };
  const at = now();
  const names = (leaf.subjectAltName ?? '').toLowerCase().split(', ');
  const missing = job.names.find((name) => !names.includes(`dns:${name}`));
  if (missing !== undefined)
    throw new JobFailure('conversion', `The certificate that was issued is not for ${missing}.`);
  if (!leaf.checkPrivateKey(createPrivateKey(issued.privateKey)))
    throw new JobFailure(
      'conversion',
      'The certificate that was issued is for another key than the one in the request.',
    );
  if (validity.notAfter <= at)
    throw new JobFailure(
      'conversion',
      `The certificate that was issued ended on ${new Date(validity.notAfter).toISOString()}: the clock of this gateway or of the authority is wrong.`,
    );
  const { notBefore } = validity;
  if (notBefore > at + NOT_YET_MAX_MS)
    throw new JobFailure(
      'conversion',
      `The certificate that was issued is not valid before ${new Date(notBefore).toISOString()}: the clock of this gateway or of the authority is wrong.`,
    );
  // Visitors would refuse it. It stays at the authority, and the one in force is shown, until it is valid.
  if (notBefore > at)
    return store.save(job, {
      errorCode: null,
      message: `The certificate is issued, and shown once it is valid: at ${new Date(notBefore).toISOString()}.`,
      nextAt: notBefore,
    });
  const renewsAt = Math.min(usualRenewal(validity, random()), latestRenewal(validity));
  const { revocation } = job;
  // One that waits is tried again now: nothing else is in its way.
  const isRevoking = revocation !== null && awaitsRevocation(job);
  // The authority is asked for its window soon, as it may have one for this certificate already.
  const certificateId = idOf(issued.chain);
  const renewalInfo = certificateId === undefined ? null : { directoryUrl, certificateId, checkAt: nextCheck(at, 0) };
  await store.install(
    job,
    {
      state: 'ISSUED',
      attempts: 0,
      blockedUntil: null,
      errorCode: null,
      message: '',
      order: null,
      renewsAt,
      renewalInfo,
      ...(isRevoking && { revocation: { ...revocation, nextAt: at } }),
      nextAt: isRevoking ? at : Math.min(renewalInfo?.checkAt ?? renewsAt, renewsAt),
    },
    issued,
    at,
  );
}

/** Undefined for one that does not name the key of its issuer: the authority is not asked for its window. */
function idOf(chain: string): string | undefined {
  try {
    return ariCertificateId(chain);
  } catch {
    return undefined;
  }
}
