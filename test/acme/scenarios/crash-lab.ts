// A gateway as a process of its own, the authority and the DNS that it asks, and its database: what a test of kill -9 needs.

import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import pg from 'pg';
import { expect, inject } from 'vitest';
import type { JobState } from '../../../src/acme/jobs/job.ts';
import { freePort } from '../../../src/net/free-port.ts';
import { type AcmeServer, startAcmeServer } from '../../support/acme/server.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { type GatewayProcess, startProcess } from '../../support/gateway/process.ts';

/** Its records are never right: a try that a person asks for has the gateway look for what is due, and does nothing else. */
const BELL = 'bell.crash.com';

export interface CrashLab {
  authority: AcmeServer;
  dns: DnsServer;
  /** The one that was started last; it may have been killed. */
  gateway(): GatewayProcess;
  /** A new process on the same data. */
  restart(): Promise<void>;
  /** A name that no other test of this lab has; it leads to the gateway. */
  newName(): string;
  reserve(name: string): Promise<void>;
  rows(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** As it is stored; undefined when the domain is not. */
  stateOf(name: string): Promise<JobState | undefined>;
  /** Moves the certificate's next step here. @param isRenewal whether the certificate is to be renewed, too. */
  makeDue(name: string, isRenewal: boolean): Promise<void>;
  /** Speaks TLS with the gateway. @returns the serial number of the certificate, which is of the authority, and whose key it has. */
  shownSerial(name: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startCrashLab(): Promise<CrashLab> {
  const authority = await startAcmeServer();
  authority.faults.retryAfter = '0';
  const dns = await startDnsServer({ '*.cname.tunnel.test': ['127.0.0.1'] });
  // The same after each start, as the authority comes to it.
  const httpPort = String(await freePort('127.0.0.1'));
  authority.targets.httpPorts.push(Number(httpPort));
  const caFile = join(await mkdtemp(join(inject('run'), 'crash-')), 'ca.pem');
  await writeFile(caFile, authority.caPem);
  let gateway = await startProcess({
    ...{ BASE_DOMAIN: 'tunnel.test', ACME_TERMS_AGREED: 'true', ACME_DIRECTORY_URL: authority.directoryUrl },
    ...{ ACME_CA_FILE: caFile, ACME_HTTP_PORT: httpPort, HTTP_PORT: httpPort, DNS_SERVERS: dns.address },
  });
  /** After a failure, the names are proved by TLS-ALPN-01. */
  const validateByTls = () => authority.targets.tlsPorts.splice(0, 1, Number(gateway.https.split(':').at(-1)));
  validateByTls();
  const database = new pg.Client(gateway.place.env.DATABASE_URL);
  await database.connect();
  const { place } = gateway;
  const rows: CrashLab['rows'] = async (text, values) => (await database.query(text, values)).rows;
  const reserve = async (domain: string) => {
    // The answer may be cut by a kill: what counts is what is stored.
    const answer = await gateway.call('POST', '/reserved_domains', { domain }).catch(() => undefined);
    if (answer && answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  };
  let count = 0;
  await reserve(BELL);
  const [bell] = await rows('SELECT id FROM reserved_domain WHERE domain = $1', [BELL]);
  return {
    authority,
    dns,
    gateway: () => gateway,
    async restart() {
      await gateway.kill();
      gateway = await gateway.restart();
      validateByTls();
    },
    newName() {
      const name = `app.crash-${++count}.com`;
      dns.zone[name] = ['127.0.0.1'];
      return name;
    },
    reserve,
    rows,
    async stateOf(name) {
      const [row] = await rows('SELECT upper(state::text) AS state FROM managed_certificate WHERE names = ARRAY[$1]', [
        name,
      ]);
      return row?.state as JobState | undefined;
    },
    async makeDue(name, isRenewal) {
      const past = "now() - interval '1 s'";
      const set = isRenewal ? `next_at = ${past}, renews_at = ${past}` : `next_at = ${past}`;
      await rows(`UPDATE managed_certificate SET ${set} WHERE names = ARRAY[$1]`, [name]);
      const query = 'mutation ($id: ID!) { retryCertificate(id: $id) { reservedDomain { id } } }';
      // Also this answer may be cut, by the kill that follows from it.
      const answer = await gateway
        .call('POST', '/graphql', { query, variables: { id: bell?.id } })
        .catch(() => undefined);
      if (answer) expect(answer.body.errors).toBeUndefined();
    },
    async shownSerial(name) {
      const port = Number(gateway.https.split(':').at(-1));
      const socket = connect({ host: '127.0.0.1', port, servername: name, ca: authority.rootPem });
      try {
        await once(socket, 'secureConnect');
        return socket.getPeerCertificate().serialNumber;
      } finally {
        socket.destroy();
      }
    },
    async stop() {
      await gateway.kill();
      await database.end();
      await place.remove();
      await Promise.all([authority.stop(), dns.close()]);
    },
  };
}
