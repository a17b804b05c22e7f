// A gateway that is killed in the middle of obtaining a certificate, and of renewing it, and is started again on the same data.
// What a step has done is either stored or with somebody else: between two requests nothing can be lost that is not lost at one of them.

import { X509Certificate } from 'node:crypto';
import { expect } from 'vitest';
import type { JobState } from '../../../src/acme/jobs/job.ts';
import type { AcmeResource } from '../../support/acme/faults.ts';
import { eventually } from '../../support/eventually.ts';
import type { CrashLab } from './crash-lab.ts';

/** A restart, and the steps that are left. A busy machine is no failure. */
const PATIENCE = { timeout: 60_000, interval: 25 };

export interface CrashPoint {
  /** The step that is killed. */
  state: JobState;
  /** What it asks for: the authority, the DNS, or that the authority looks at the gateway. */
  at: AcmeResource | 'dns' | 'validation';
  /** The gateway is killed before the request is acted on, which is lost then, or when that is done and not told. */
  moment: 'asked' | 'answered';
  /** Which of these requests of the step; the first when left out. */
  nth?: number;
  /** The status of the order at that moment; any when left out. */
  order?: 'ready';
  /** The authority makes another order for the names of a pending one; Let's Encrypt has the same again. */
  isOrderedAnew?: boolean;
}

/** What became of a certificate that was being obtained when the gateway was killed. */
export interface CrashOutcome {
  orders: number;
  /** Certificates of the domain so far. */
  issued: number;
  /** From the restart on, in milliseconds. */
  issuedMs: number;
}

export interface CrashOutcomes {
  /** Undefined where the step has no such request. */
  first: CrashOutcome | undefined;
  renewal: CrashOutcome | undefined;
}

/** What the gateway asks once only: a renewal does without. */
export const firstContact: readonly CrashPoint['at'][] = ['directory', 'newNonce', 'newAccount'];

/**
 * Kills the gateway at a point while it obtains a certificate, and once more at the same point while it renews that.
 * @param isRenewed whether it is.
 */
export async function crashAt(lab: CrashLab, point: CrashPoint, isRenewed = true): Promise<CrashOutcomes> {
  const name = lab.newName();
  lab.authority.faults.reusesOrders = !point.isOrderedAnew;
  const isLater = point.state === 'ISSUED';
  const reserve = () => lab.reserve(name);
  const first = isLater ? await reserve() : await crashOnce(lab, point, name, 1, reserve);
  await expectIssued(lab, point, name, 1, first ? 1 : 0);
  if (!isRenewed) return { first: first ?? undefined, renewal: undefined };

  // Whether it is renewed is asked while it is not due.
  const isAgain = !firstContact.includes(point.at);
  const renew = () => lab.makeDue(name, !isLater);
  const renewal = isAgain ? await crashOnce(lab, point, name, isLater ? 1 : 2, renew) : await lab.makeDue(name, true);
  if (isLater) await lab.makeDue(name, true);
  await expectIssued(lab, point, name, 2, (first ? 1 : 0) + (renewal ? 1 : 0));
  return { first: first ?? undefined, renewal: renewal ?? undefined };
}

async function crashOnce(
  lab: CrashLab,
  point: CrashPoint,
  name: string,
  wanted: number,
  begin: () => Promise<void>,
): Promise<CrashOutcome> {
  const before = ordersOf(lab, name).length;
  const killing = killAt(lab, point, name);
  try {
    await begin();
    await eventually(async () => {
      const state = await lab.stateOf(name);
      expect(killing.isDone(), `${JSON.stringify(point)} is not reached, but ${state}`).toBe(true);
    }, PATIENCE);
    const isRefused = point.at === 'validation';
    // Nobody was there when the authority looked: it does not look at this order again.
    if (isRefused) await eventually(() => expect(ordersOf(lab, name).at(-1)?.status).toBe('invalid'), PATIENCE);
    // The killed process has the job for 120 s more. The end of its lease is moved here, which stands for the time that passes.
    const leases = await lab.rows(
      "UPDATE managed_certificate SET lease_until = now() - interval '1 s' WHERE names = ARRAY[$1] AND lease_until > now() RETURNING id",
      [name],
    );
    // The authority looks while a step is under way, or between two.
    if (!isRefused) expect(leases).toHaveLength(1);
    const began = performance.now();
    await lab.restart();
    killing.release();
    if (isRefused) {
      await eventually(async () => expect(await lab.stateOf(name)).toBe('FAILED_RETRYING'), PATIENCE);
      await lab.makeDue(name, false);
    }
    await eventually(() => expectState(lab, name, wanted), PATIENCE);
    const orders = ordersOf(lab, name);
    return { orders: orders.length - before, issued: wanted, issuedMs: Math.round(performance.now() - began) };
  } finally {
    killing.release();
  }
}

/** Kills the gateway once. The authority validates nothing until it is released, where that is not the point. */
function killAt(lab: CrashLab, { state, at, moment, nth = 1, order }: CrashPoint, name: string) {
  const { faults } = lab.authority;
  let [seen, isStruck, isDone] = [0, false, false];
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const strike = async () => {
    if (isStruck || (order && ordersOf(lab, name).at(-1)?.status !== order)) return false;
    const now = await lab.stateOf(name);
    if (isStruck || now !== state || ++seen < nth) return false;
    isStruck = true;
    await lab.gateway().kill();
    isDone = true;
    return true;
  };
  faults.onRequest = async (resource, when) =>
    resource === at && when === moment && (await strike()) ? 'lost' : undefined;
  faults.onValidation = async () => {
    if (at === 'validation') await strike();
    else if (state === 'VALIDATING' && !order) await released;
  };
  lab.dns.onQuestion = async (question) => {
    if (at === 'dns' && question.endsWith(` ${name}`)) await strike();
  };
  return {
    isDone: () => isDone,
    release() {
      release();
      faults.onRequest = undefined;
      faults.onValidation = undefined;
      lab.dns.onQuestion = undefined;
    },
  };
}

const ordersOf = ({ authority }: CrashLab, name: string) => authority.orders.filter(({ names }) => names[0] === name);
const validOf = (lab: CrashLab, name: string) => ordersOf(lab, name).filter(({ status }) => status === 'valid');

/** All that was wanted is there, and nobody works on the certificate. */
async function expectState(lab: CrashLab, name: string, wanted: number): Promise<void> {
  const text = `SELECT upper(state::text) AS state, lease_until, next_at > now() AS "isLater" FROM managed_certificate WHERE names = ARRAY[$1]`;
  expect(await lab.rows(text, [name])).toEqual([{ state: 'ISSUED', lease_until: null, isLater: true }]);
  expect(validOf(lab, name)).toHaveLength(wanted);
}

/** Visitors see the certificate that was issued last, nothing was ordered twice, and nothing is left over. */
async function expectIssued(
  lab: CrashLab,
  point: CrashPoint,
  name: string,
  wanted: number,
  crashes: number,
): Promise<void> {
  await eventually(() => expectState(lab, name, wanted), PATIENCE);
  expect(lab.authority.accountUrls).toHaveLength(1);
  const newest = new X509Certificate(validOf(lab, name).at(-1)?.certificate ?? '');
  await eventually(async () => expect(await lab.shownSerial(name)).toBe(newest.serialNumber), PATIENCE);

  const isUnknown = point.at === 'newOrder' && point.moment === 'answered' && point.isOrderedAnew;
  // An order whose URL is lost with the process is placed anew, unless the authority has the same again.
  expect(ordersOf(lab, name)).toHaveLength(wanted + (isUnknown || point.at === 'validation' ? crashes : 0));
  const found = await lab.rows('SELECT outcome FROM certificate_order WHERE names = ARRAY[$1]', [name]);
  const count = (outcome: string | null) => found.filter((row) => row.outcome === outcome).length;
  expect(count(null)).toBe(0);
  expect(count('issued')).toBe(wanted);
  // An order is counted before it is placed. A renewal is once more: the authority refuses a second order for the same replacement.
  const refused = isUnknown && wanted === 2 ? 1 : 0;
  expect(count('abandoned')).toBe(point.at === 'newOrder' ? crashes + refused : 0);
  expect(count('failed')).toBe(point.at === 'validation' ? crashes : 0);
  expect(await lab.rows('SELECT id FROM acme_challenge')).toEqual([]);
  expect(await lab.rows('SELECT id FROM tls_certificate WHERE dns_names = ARRAY[$1]', [name])).toHaveLength(1);
}
