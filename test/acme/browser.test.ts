// A real browser that trusts the authority, as all browsers trust public ones, and an agent's page under a customer's domain. It needs
// Debian's packages `chromium` and `libnss3-tools`.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startAgent } from '../support/agents/agent.ts';
import { newCredential } from '../support/agents/live.ts';
import { startCertificateLab } from './lab.ts';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const CERTUTIL = '/usr/bin/certutil';
const missing = [CHROMIUM, CERTUTIL].filter((file) => !existsSync(file));
if (missing.length > 0) process.stderr.write(`${missing.join(' and ')} are not there: no browser visits a domain.\n`);

const PAGE = '<!doctype html><title>the page of an agent</title>';

/** What a browser shows of a page. @param home has the authorities that it trusts, beside its own. */
async function dumped(url: string, home: string): Promise<string> {
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
  ];
  const toGateway = '--host-resolver-rules=MAP *.example.com 127.0.0.1';
  const profile = `--user-data-dir=${join(home, 'profile')}`;
  const browser = spawn(CHROMIUM, [...flags, toGateway, profile, '--dump-dom', url], {
    env: { PATH: process.env.PATH, HOME: home },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return text(browser.stdout);
}

test.skipIf(missing.length > 0)(
  'a browser that trusts the authority shows an agent’s page under a customer’s domain',
  async () => {
    const lab = await startCertificateLab();
    const upstream = createServer((_, response) => response.setHeader('content-type', 'text/html').end(PAGE)).listen(
      0,
      '127.0.0.1',
    );
    const home = await mkdtemp(join(tmpdir(), 'gateway-browser-'));
    let agent: Awaited<ReturnType<typeof startAgent>> | undefined;
    try {
      const domain = await lab.reserve('shop.example.com');
      lab.point(domain);
      const { authtoken } = await newCredential(lab.gateway);
      const caFile = join(home, 'gateway-ca.pem');
      await writeFile(caFile, lab.gateway.ca);
      const { port } = upstream.address() as AddressInfo;
      const args = ['https', String(port), '--domain', 'shop.example.com'];
      agent = await startAgent({ authtoken, gateway: lab.gateway.agent, caFile, args });
      await agent.printed(/https:\/\/shop\.example\.com/);
      await lab.gateway.graphql('mutation ($id: ID!) { retryCertificate(id: $id) { reservedDomain { id } } }', {
        id: domain.id,
      });
      await lab.reach(domain.id, 'ISSUED');

      const url = `https://shop.example.com:${lab.gateway.https.split(':').at(-1)}/`;
      expect(await dumped(url, home), 'without the authority').not.toContain('the page of an agent');
      const store = join(home, '.pki/nssdb');
      await mkdir(store, { recursive: true });
      const root = join(home, 'root.pem');
      await writeFile(root, lab.authority.rootPem);
      for (const command of [
        ['-N', '--empty-password'],
        ['-A', '-t', 'C,,', '-n', 'test', '-i', root],
      ])
        expect(spawnSync(CERTUTIL, ['-d', `sql:${store}`, ...command]).status).toBe(0);
      expect(await dumped(url, home)).toContain('<title>the page of an agent</title>');
    } finally {
      await agent?.remove();
      upstream.close();
      upstream.closeAllConnections();
      await lab.stop();
      await rm(home, { recursive: true, force: true });
    }
  },
);
