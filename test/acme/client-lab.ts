// An ACME client with an account at the server of the tests, anew for each test.

import { afterEach, beforeEach } from 'vitest';
import { newAccountKey } from '../../src/acme/client/account-key.ts';
import { AcmeClient } from '../../src/acme/client/client.ts';
import type { AcmeOrder } from '../../src/acme/client/resources.ts';
import { type AcmeServer, type AcmeServerOptions, startAcmeServer } from '../support/acme/server.ts';
import { obtain, type Responders, startResponders } from './responders.ts';

export class ClientLab {
  responders!: Responders;
  server!: AcmeServer;
  client!: AcmeClient;
  /** The clock of the authority. */
  now = 0;

  async start(): Promise<void> {
    this.now = Date.parse('2027-03-01T12:00:00Z');
    this.responders = await startResponders();
    await this.#open({});
  }

  /** Starts the server anew with other options, and opens an account. */
  async restart(options: AcmeServerOptions = {}): Promise<void> {
    await this.#close();
    await this.#open(options);
  }

  clientOf(key: string): AcmeClient {
    const { directoryUrl, caPem } = this.server;
    return new AcmeClient({ directoryUrl, ca: caPem, userAgent: 'tunnel-gateway-tests' }, key);
  }

  async finish(order: AcmeOrder): Promise<AcmeOrder> {
    return (await obtain(this.client, order, 'http-01', this.responders)).order;
  }

  async certificateFor(order: AcmeOrder): Promise<string> {
    return this.client.certificate((await this.finish(order)).certificate ?? '');
  }

  async stop(): Promise<void> {
    await this.#close();
    await this.responders.stop();
  }

  async #open(options: AcmeServerOptions): Promise<void> {
    const { httpPort, tlsPort, dns } = this.responders;
    const targets = { httpPorts: [httpPort], tlsPorts: [tlsPort], dnsServer: dns.address };
    this.server = await startAcmeServer({ targets, now: () => this.now, ...options });
    this.client = this.clientOf(await newAccountKey());
    await this.client.openAccount({ termsOfServiceAgreed: true });
  }

  async #close(): Promise<void> {
    this.client.close();
    await this.server.stop();
  }
}

/** To be called once in a file of tests. */
export function clientLab(): ClientLab {
  const lab = new ClientLab();
  beforeEach(() => lab.start());
  afterEach(() => lab.stop());
  return lab;
}
