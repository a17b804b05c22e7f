// A gateway whose certificates come from Pebble, and whose names both find through Unbound: nothing between them is of ours.

import { randomBytes } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { freePort } from '../../src/net/free-port.ts';
import { type Pebble, pebbleIsMissing, startPebble } from '../support/acme/pebble.ts';
import { type Balancer, startBalancer } from '../support/balancer.ts';
import { missing, pathOf } from '../support/dns/programs.ts';
import { startUnbound, type Unbound } from '../support/dns/unbound.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { type CertificateApi, certificateApi, type Domain, visit } from './certificate-api.ts';

/** Why tests with both are skipped; undefined when they are installed. */
export const labIsMissing = pebbleIsMissing ?? (pathOf('unbound') ? undefined : missing('unbound'));

export interface PebbleLabOptions {
  /** How many of 100 good nonces are refused. */
  nonceRejection: number;
  /** How many of 100 orders get the proofs of earlier ones. */
  authorizationReuse: number;
  /** Accounts must be bound to one that the gateway has been given. */
  isBound?: boolean;
}

export interface PebbleLab extends CertificateApi {
  gateway: TestGateway;
  /** Has the DNS lead domains to the gateway, beside those before, and has their records looked up. Nobody may ask the DNS meanwhile. */
  lead(...domains: Domain[]): Promise<void>;
  /** From now on the authority reaches no port for HTTP. */
  closeHttp(): void;
  /** Moves the gateway's clock, and has it look for what is due. */
  advance(ms: number): void;
  /** Speaks TLS as a visitor who trusts Pebble's root alone. @returns the serial number and the names of the certificate. */
  shown(servername: string): Promise<{ serial: string; names: string[] }>;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const KID = 'kid-of-the-lab';

export async function startPebbleLab(options: PebbleLabOptions): Promise<PebbleLab> {
  const [http, https, dns] = [await freePort(HOST), await freePort(HOST), await freePort(HOST)];
  const parts: { stop(): void | Promise<void> }[] = [];
  const stop = async () => {
    for (const part of parts.toReversed()) await part.stop();
  };
  const started = <T>(part: T, end: (part: T) => void | Promise<void>): T => {
    parts.push({ stop: () => end(part) });
    return part;
  };
  try {
    const stubs = [{ zone: 'tunnel.test', address: `${HOST}:${dns}` }];
    const unbound = started(await startUnbound({ stubs }), (part) => part.stop());
    // What a firewall in front of the gateway would let through.
    const door = started(await startBalancer(`${HOST}:${http}`, { from: HOST, header: 0 }), (part) => part.close());
    const hmacKey = randomBytes(32).toString('base64url');
    const pebble = started(
      await startPebble({
        ...{ httpPort: door.port, tlsPort: https, dnsServer: unbound.address },
        env: {
          PEBBLE_WFE_NONCEREJECT: String(options.nonceRejection),
          PEBBLE_AUTHZREUSE: String(options.authorizationReuse),
        },
        ...(options.isBound && { eab: { [KID]: hmacKey } }),
      }),
      (part) => part.stop(),
    );
    const clock = { ahead: 0 };
    const variables = {
      ...(await acmeVariables(pebble)),
      ...{ BASE_DOMAIN: 'tunnel.test', PUBLIC_ADDRESSES: HOST, ACME_OWN_NAMES: 'true' },
      ...{ HTTP_PORT: String(http), ACME_HTTP_PORT: String(http), HTTPS_PORT: String(https) },
      ...{ DNS_PORT: String(dns), DNS_SERVE_BASE_DOMAIN: 'true', DNS_SERVERS: unbound.address },
      ...(options.isBound && { ACME_EAB_KID: KID, ACME_EAB_HMAC_KEY: hmacKey }),
    };
    const now = () => Date.now() + clock.ahead;
    const gateway = started(await startTestGateway(variables, { now }), (part) => part.close());
    return { ...labOf(gateway, { unbound, door, clock, root: await pebble.root() }), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function acmeVariables({ caPem, directoryUrl }: Pebble): Promise<Record<string, string>> {
  const caFile = join(await mkdtemp(join(inject('run'), 'pebble-')), 'ca.pem');
  await writeFile(caFile, caPem);
  return { ACME_TERMS_AGREED: 'true', ACME_DIRECTORY_URL: directoryUrl, ACME_CA_FILE: caFile };
}

interface Around {
  unbound: Unbound;
  door: Balancer;
  clock: { ahead: number };
  root: string;
}

function labOf(gateway: TestGateway, { unbound, door, clock, root }: Around): Omit<PebbleLab, 'stop'> {
  const api = certificateApi(gateway);
  const zones: Record<string, string> = {};
  return {
    ...api,
    gateway,
    async lead(...domains) {
      for (const { id } of domains) await api.firstLook(id);
      for (const domain of domains) Object.assign(zones, zoneOf(domain));
      await unbound.serve(zones);
      for (const { id } of domains) expect(await api.retry(id)).toBeUndefined();
    },
    closeHttp: () => door.close(),
    advance(ms) {
      clock.ahead += ms;
      void gateway.app.changes.publish([{ kind: 'domainCertificate', action: 'UPDATED', id: '', accountId: '' }]);
    },
    async shown(servername) {
      const socket = await visit(gateway, { servername, ca: root });
      const { serialNumber: serial, subjectaltname = '' } = socket.getPeerCertificate();
      socket.destroy();
      return { serial, names: subjectaltname.split(', ').sort() };
    },
  };
}

/** The zone that a customer has for one domain: the name without its first label. */
function zoneOf({ domain, cname_target: target, acme_challenge_cname_target: challenge }: Domain) {
  const [label, ...apex] = domain.split('.');
  const records = [`${label} CNAME ${target}.`, ...(challenge ? [`_acme-challenge CNAME ${challenge}.`] : [])];
  return { [apex.join('.')]: records.join('\n') };
}
