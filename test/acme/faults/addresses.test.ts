// Names that lead to this gateway, and elsewhere, too: the gateway visits itself before it orders.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { DnsEntry } from '../../support/dns-server.ts';
import { type CertificateLab, type Domain, startCertificateLab } from '../lab.ts';

let lab: CertificateLab;
let port: number;
let asked: string[] = [];
const servers: { close(): void }[] = [];
beforeAll(async () => {
  lab = await startCertificateLab();
  port = lab.authority.targets.httpPorts[0] as number;
});
afterAll(() => lab?.stop());
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  asked = [];
});

let count = 0;
const newName = () => `app.addresses-${++count}.com`;

/** Another server at another address of this machine, at the port where the gateway is. */
async function stranger(address: string): Promise<Server> {
  const server = createServer((request, response) => {
    asked.push(request.headers.host ?? '');
    response.writeHead(200).end('a page');
  });
  server.listen(port, address);
  await once(server, 'listening');
  servers.push(server);
  return server;
}

async function began(addresses: (domain: Domain) => void): Promise<Domain> {
  const domain = await lab.reserve(newName());
  lab.point(domain);
  addresses(domain);
  await lab.retry(domain.id);
  return domain;
}

describe('a name', () => {
  test.each(['127.0.0.2', '::1'])('that has the address of another server, %s, is not ordered', async (address) => {
    await stranger(address);
    const { id, domain } = await began(({ cname_target }) => {
      lab.dns.zone[cname_target] = ['127.0.0.1', address];
    });
    const place = address === '::1' ? `[::1]:${port}` : `${address}:${port}`;
    const { errorCode, message } = await lab.reach(id, 'FAILED_RETRYING');
    expect(errorCode).toBe('ERR_GATEWAY_26022');
    expect(message).toContain(`http://${domain}/ leads to another server at ${place}`);
    expect(message).toContain(address === '::1' ? 'Remove the AAAA record' : 'Let the records lead to this gateway');
    expect(lab.authority.countOrders(domain)).toBe(0);
  });

  test('that has an address where nobody listens is not ordered', async () => {
    const { id, domain } = await began(({ cname_target }) => {
      lab.dns.zone[cname_target] = ['127.0.0.1', '127.0.0.3'];
    });
    const { errorCode, message } = await lab.reach(id, 'FAILED_RETRYING');
    expect(errorCode).toBe('ERR_GATEWAY_26021');
    expect(message).toContain(`could not be visited at 127.0.0.3:${port}: ECONNREFUSED`);
    expect(lab.authority.countOrders(domain)).toBe(0);
  });

  test('that has the address of a server that never answers is not ordered', async () => {
    const silent = createTcpServer();
    silent.listen(port, '127.0.0.4');
    await once(silent, 'listening');
    servers.push(silent);
    const { id } = await began(({ cname_target }) => {
      lab.dns.zone[cname_target] = ['127.0.0.4'];
    });
    const { errorCode, message } = await lab.reach(id, 'FAILED_RETRYING');
    expect(errorCode).toBe('ERR_GATEWAY_26021');
    expect(message).toContain('127.0.0.4');
  });

  test('by which its owner would have the gateway visit its operator’s network is visited by nobody', async () => {
    await stranger('127.0.0.5');
    const { id } = await began(({ domain, cname_target: cname }) =>
      byQuestion(domain, (type) => (type === 'CNAME' ? { cname } : ['127.0.0.5'])),
    );
    expect(await lab.reach(id, 'FAILED_RETRYING')).toMatchObject({
      errorCode: 'ERR_GATEWAY_26021',
      message: expect.stringContaining('has the address 127.0.0.5, which no authority can reach'),
    });
    expect(asked).toEqual([]);
  });

  test('whose addresses of one kind cannot be looked up is told of', async () => {
    const { id } = await began(({ domain, cname_target: cname }) =>
      byQuestion(domain, (type) => (type === 'AAAA' ? 'SERVFAIL' : { cname })),
    );
    expect(await lab.reach(id, 'FAILED_RETRYING')).toMatchObject({
      errorCode: 'ERR_GATEWAY_26025',
      message: expect.stringMatching(/^The addresses of app\.addresses-\d+\.com could not be looked up: .*SERVFAIL/),
    });
  });

  test('that the gateway cannot visit is ordered all the same after a failure: some networks do not let it', async () => {
    const tlsPorts = lab.authority.targets.tlsPorts.splice(0); // Otherwise it gets its certificate over TLS.
    const { id, domain } = await began(({ cname_target }) => {
      lab.dns.zone[cname_target] = ['127.0.0.3'];
    });
    expect(await lab.reach(id, 'FAILED_RETRYING')).toMatchObject({ attempts: 1, errorCode: 'ERR_GATEWAY_26021' });
    lab.advance(2 * 60_000);
    await expect.poll(async () => (await lab.provisioning(id)).attempts).toBe(2);
    expect(lab.authority.countOrders(domain)).toBe(1);
    lab.advance(12 * 60_000);
    await lab.reach(id, 'ISSUED');
    lab.authority.targets.tlsPorts.push(...tlsPorts);
  });
});

/** Has a name answered otherwise for each type of question, as a server of somebody with intentions would. */
function byQuestion(name: string, entry: (type: string) => DnsEntry): void {
  const get = () => entry(lab.dns.questions.at(-1)?.split(' ')[0] ?? '');
  Object.defineProperty(lab.dns.zone, name, { get, configurable: true });
}
