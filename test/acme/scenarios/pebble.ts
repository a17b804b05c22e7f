// Every kind of certificate that the gateway obtains, from Pebble: for names of customers and its own, by each challenge there is.

import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { Provisioning } from '../certificate-api.ts';
import { type PebbleLab, type PebbleLabOptions, startPebbleLab } from '../pebble-lab.ts';

/** With so many of its nonces refused, an authority takes its time. */
const PATIENCE = { timeout: 40_000, interval: 50 };
/** How far a fast clock is moved between two checks. */
const CLOCK_STEP_MS = 400;
/** Later than the first try after a failure. */
const NEXT_TRY_MS = 70_000;

export interface Obtained {
  ms: number;
  /** As the API counts them. */
  orders: number;
  failed: number;
}

export interface Round extends PebbleLabOptions {
  /** The gateway's clock runs fast, so that it polls its orders sooner. */
  hasFastClock?: boolean;
}

interface Lab extends PebbleLab {
  /** Waits until a check passes. */
  until<T>(check: () => Promise<T>): Promise<T>;
}

export async function obtainAll({ hasFastClock = false, ...options }: Round): Promise<Obtained> {
  const began = performance.now();
  const started = await startPebbleLab(options);
  const lab: Lab = {
    ...started,
    until: (check) =>
      eventually(
        () =>
          check().catch((error) => {
            if (hasFastClock) started.advance(CLOCK_STEP_MS);
            throw error;
          }),
        PATIENCE,
      ),
  };
  try {
    const own = await ownNames(lab);
    const [app, wildcard] = [await lab.reserve('app.first.com'), await lab.reserve('*.second.com')];
    await lab.lead(app, wildcard);
    const found = await Promise.all([byHttp(lab, app.id), byText(lab, wildcard.id)]);
    // Then no visit may be needed.
    if (options.authorizationReuse === 100) lab.closeHttp();
    const renewed = await renewal(lab, app.id);
    const tls = await byTls(lab);
    const orders = [own, found[1], renewed, tls].flatMap((one) => one.orders);
    const failed = orders.filter(({ outcome }) => outcome === 'FAILED').length;
    expect(await lab.gateway.app.prisma.acmeChallenge.count(), 'challenges that nobody awaits any more').toBe(0);
    return { ms: Math.round(performance.now() - began), orders: orders.length, failed };
  } finally {
    await lab.stop();
  }
}

/** DNS-01 for two names that have the same record, in a zone of the gateway's own. */
async function ownNames(lab: Lab): Promise<Provisioning> {
  const certificate = await lab.until(async () => {
    const [found, ...others] = await lab.ofGateway();
    expect(others).toEqual([]);
    expect(found).toMatchObject({ state: 'ISSUED', names: ['tunnel.test', '*.tunnel.test'] });
    return found as Provisioning;
  });
  const serials = await Promise.all(
    ['tunnel.test', 'any.tunnel.test', 'other.tunnel.test'].map((name) =>
      issued(lab, name, ['DNS:*.tunnel.test', 'DNS:tunnel.test']),
    ),
  );
  expect(new Set(serials).size).toBe(1);
  return certificate;
}

async function byHttp(lab: Lab, id: string): Promise<Provisioning> {
  const certificate = await reachIssued(lab, id);
  await issued(lab, 'app.first.com', ['DNS:app.first.com']);
  return certificate;
}

/** DNS-01, whose text Pebble finds by the customer's CNAME record. */
async function byText(lab: Lab, id: string): Promise<Provisioning> {
  const certificate = await reachIssued(lab, id);
  for (const name of ['one.second.com', 'two.second.com']) await issued(lab, name, ['DNS:*.second.com']);
  return certificate;
}

/** Of a certificate that has its life before it: nobody waits for years. */
async function renewal(lab: Lab, id: string): Promise<Provisioning> {
  const before = await lab.shown('app.first.com');
  const due = new Date();
  await lab.gateway.app.prisma.managedCertificate.update({
    where: { domainId: id },
    data: { renewsAt: due, nextAt: due },
  });
  lab.advance(0);
  await lab.until(async () => expect((await lab.shown('app.first.com')).serial).not.toBe(before.serial));
  const certificate = await reachIssued(lab, id);
  expect(certificate.orders.map(({ outcome }) => outcome)).toEqual(['ISSUED', 'ISSUED']);
  return certificate;
}

/** TLS-ALPN-01, which follows when nothing is reached over HTTP. */
async function byTls(lab: Lab): Promise<Provisioning> {
  lab.closeHttp();
  const { id, ...domain } = await lab.reserve('app.third.com');
  await lab.lead({ id, ...domain });
  await lab.until(async () =>
    expect(await lab.provisioning(id)).toMatchObject({
      ...{ state: 'FAILED_RETRYING', errorCode: 'ERR_GATEWAY_26024', attempts: 1, orders: [{ outcome: 'FAILED' }] },
    }),
  );
  lab.advance(NEXT_TRY_MS);
  const certificate = await reachIssued(lab, id);
  await issued(lab, 'app.third.com', ['DNS:app.third.com']);
  expect(certificate.orders.map(({ outcome }) => outcome)).toEqual(['ISSUED', 'FAILED']);
  return certificate;
}

const reachIssued = (lab: Lab, id: string) =>
  lab.until(async () => {
    const found = await lab.provisioning(id);
    expect(found, found.message).toMatchObject({ state: 'ISSUED', errorCode: null, attempts: 0 });
    return found;
  });

/** Listeners have a certificate a moment after it is there. @returns its serial number. */
const issued = (lab: Lab, name: string, names: string[]) =>
  eventually(async () => {
    const shown = await lab.shown(name);
    expect(shown.names).toEqual(names);
    return shown.serial;
  });
