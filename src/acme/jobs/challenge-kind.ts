// Which challenge of the authority is answered (RFC 8555, section 8; RFC 8737).

import { type CertificateJob, type ChallengeKind, isWildcard } from './job.ts';

/**
 * How the control of a name is shown: wildcards, and names beside one in the same certificate, by a record; others by HTTP, and after a
 * failure by TLS and HTTP in turn, as a firewall may let only one of them through.
 */
export function challengeKind(job: Pick<CertificateJob, 'names' | 'attempts'>): ChallengeKind {
  if (job.names.some(isWildcard)) return 'dns-01';
  return job.attempts % 2 === 0 ? 'http-01' : 'tls-alpn-01';
}

/** In this order, where the authority offers no challenge of the first kind. */
export function alternatives(kind: ChallengeKind): ChallengeKind[] {
  if (kind === 'dns-01') return ['dns-01'];
  return kind === 'http-01' ? ['http-01', 'tls-alpn-01'] : ['tls-alpn-01', 'http-01'];
}
