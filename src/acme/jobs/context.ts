// What the steps of a job are given.

import type { withDns } from '../checks/dns.ts';
import type { AcmeSettings } from '../settings.ts';
import type { AcmeAuthority } from './authority.ts';
import type { CertificateJob } from './job.ts';
import type { JobStore } from './job-store.ts';

export interface JobContext {
  settings: AcmeSettings;
  store: JobStore;
  authority: AcmeAuthority;
  withDns: typeof withDns;
  /** What is registered of a name: `example.com` of `a.b.example.com`. */
  registeredDomain(name: string): string;
  /** The names at which the text of a DNS-01 challenge is published. */
  textRecordsOf(job: CertificateJob, name: string): string[];
  /** The wall clock, in milliseconds. */
  now(): number;
  /** From 0 to 1. */
  random(): number;
}

/** One step of a job. It ends with a save. @throws {JobFailure | AcmeProblem | AcmeUnreachable | LeaseLost} */
export type Step = (job: CertificateJob, context: JobContext) => Promise<void>;
