// A gateway whose certificates come from an authority of the tests, and the DNS that both of them ask.

import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { expect, inject } from 'vitest';
import { freePort } from '../../src/net/free-port.ts';
import { type AcmeServer, type AcmeServerOptions, startAcmeServer } from '../support/acme/server.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { startTestGateway, type TestGateway, type TestOptions } from '../support/gateway/gateway.ts';
import { type CertificateApi, certificateApi, type Domain, visit } from './certificate-api.ts';

export type { Domain, Provisioning } from './certificate-api.ts';

export interface CertificateLab extends CertificateApi {
  gateway: TestGateway;
  /** What it was started with. */
  variables: Record<string, string>;
  authority: AcmeServer;
  dns: DnsServer;
  /** Has the records of a domain be right. */
  point(domain: Domain): void;
  /** Reserves a domain that leads to the gateway, and has its records looked up. */
  begin(domain: string, more?: object): Promise<Domain>;
  /** The clock of the gateway and the authority, in milliseconds. */
  now(): number;
  /** Moves the clock, and has the gateways look for what is due. */
  advance(ms: number): void;
  /** Has the gateways look for what is due. */
  wake(): void;
  /** Another gateway on the same data, which needs a database server. It ends with the lab. */
  join(): Promise<TestGateway>;
  /** Speaks TLS with the gateway. @returns the connection. Rejects when the certificate is not of the authority, or for another name. */
  visit(name: string, options?: ConnectionOptions): Promise<TLSSocket>;
  stop(): Promise<void>;
}

export interface LabOptions {
  authority?: AcmeServerOptions;
  /** Variables of the gateway. */
  env?: Record<string, string>;
  gateway?: TestOptions;
  /** What the DNS has from the beginning. */
  zone?: DnsServer['zone'];
}

export async function startCertificateLab({
  authority: options,
  env,
  gateway: more,
  zone,
}: LabOptions = {}): Promise<CertificateLab> {
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const authority = await startAcmeServer({ now, ...options });
  // Nobody waits for the usual two seconds between two looks at an order.
  authority.faults.retryAfter = '0';
  const dns = await startDnsServer(zone);
  const [httpPort, dnsPort] = await Promise.all([freePort('127.0.0.1'), freePort('127.0.0.1')]);
  const caFile = join(await mkdtemp(join(inject('run'), 'acme-')), 'ca.pem');
  await writeFile(caFile, authority.caPem);
  dns.delegated['tunnel.test'] = `127.0.0.1:${dnsPort}`;
  const variables = {
    BASE_DOMAIN: 'tunnel.test',
    ACME_TERMS_AGREED: 'true',
    ACME_DIRECTORY_URL: authority.directoryUrl,
    ACME_CA_FILE: caFile,
    ACME_HTTP_PORT: String(httpPort),
    HTTP_PORT: String(httpPort),
    DNS_SERVERS: dns.address,
    DNS_PORT: String(dnsPort),
    PUBLIC_ADDRESSES: '127.0.0.1',
    ...env,
  };
  const gateway = await startTestGateway(variables, { now, ...more });
  const httpsPort = Number(gateway.https.split(':').at(-1));
  authority.targets.httpPorts.push(httpPort);
  authority.targets.tlsPorts.push(httpsPort);
  // As a resolver finds them: the zones of customers, and the gateway's own.
  authority.targets.dnsServer = (name) => (name.endsWith('.tunnel.test') ? `127.0.0.1:${dnsPort}` : dns.address);

  const api = certificateApi(gateway);
  const point = ({ domain, cname_target: target, acme_challenge_cname_target: challenge }: Domain) => {
    dns.zone[target] = ['127.0.0.1'];
    dns.zone[domain] = { cname: target };
    if (challenge) dns.zone[`_acme-challenge.${domain.slice(2)}`] = { cname: challenge };
  };
  const gateways = [gateway];
  const wake = () => {
    for (const { app } of gateways)
      void app.changes.publish([{ kind: 'domainCertificate', action: 'UPDATED', id: '', accountId: '' }]);
  };
  return {
    gateway,
    variables,
    authority,
    dns,
    ...api,
    point,
    async begin(domain, input) {
      const made = await api.reserve(domain, input);
      point(made);
      const { state } = await api.firstLook(made.id);
      if (state === 'WAITING_DNS') expect(await api.retry(made.id)).toBeUndefined();
      return made;
    },
    now,
    advance(ms) {
      ahead += ms;
      wake();
    },
    wake,
    async join() {
      const port = await freePort('127.0.0.1');
      const own = { HTTP_PORT: String(port), DNS_PORT: '' };
      const other = await startTestGateway({ ...variables, ...own }, { now, ...more, place: gateway.place });
      gateways.push(other);
      authority.targets.httpPorts.push(port);
      authority.targets.tlsPorts.push(Number(other.https.split(':').at(-1)));
      return other;
    },
    visit: (servername, options) => visit(gateway, { servername, ca: authority.rootPem, ...options }),
    async stop() {
      for (const one of gateways.toReversed()) await one.close();
      await Promise.all([authority.stop(), dns.close()]);
    },
  };
}
