// Reserved domains and a name server of the tests' own.

import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';

export let dns: DnsServer;
export let gateway: TestGateway;
export let account: Account;
/** Starts a name server and a gateway that asks it, before the tests of a file, and closes them after these. */
export function useNameServer(): void {
  beforeAll(async () => {
    dns = await startDnsServer();
    gateway = await startTestGateway({ DNS_SERVERS: dns.address, CNAME_DOMAIN: 'cname.gateway.example' });
    account = await gateway.newAccount();
  });
  afterEach(() => {
    dns.zone = {};
    dns.isLiteral = false;
  });
  afterAll(async () => {
    await gateway?.close();
    await dns?.close();
  });
}

/** How many domains were reserved: each has the next number in its name. */
export let reservedCount = 0;
interface Reserved {
  id: string;
  domain: string;
  target: string;
  acmeTarget: string | null;
}

export async function reserve(form = 'app.%.com', more: object = {}): Promise<Reserved> {
  const domain = form.replace('%', `shop${++reservedCount}`);
  const { body, text } = await account.call('POST', '/reserved_domains', { domain, ...more });
  expect(body.id, text).toBeDefined();
  return { id: body.id, domain, target: body.cname_target, acmeTarget: body.acme_challenge_cname_target };
}

export async function check(id: string, by = account) {
  const { body } = await by.graphql(
    `query ($id: ID!) { checkReservedDomain(id: $id) {
      isReady message records { name type expected found state message } } }`,
    { id },
  );
  return body.errors ? { error: body.errors[0] } : body.data.checkReservedDomain;
}
