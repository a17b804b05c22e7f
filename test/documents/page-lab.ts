// What the pages speak of, for a test: a gateway, a service at port 3000, a proxy, and a checkout to type commands in.

import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { inject } from 'vitest';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { root } from '../support/root.ts';
import { blocksOf } from './pages.ts';
import { openTerminal, type Terminal } from './terminal.ts';

export interface PageLab {
  /** A terminal in a directory that looks like a checkout, and has the files that the page shows. */
  terminalFor(page: string): Terminal;
  /** A text of a page with the addresses and secrets of this test in place of those of the page. */
  here(text: string): string;
  /** What an agent prints that has opened a tunnel: the page's visitors go there. */
  opened(printed: string): void;
  close(): Promise<void>;
}

export async function openPageLab(): Promise<PageLab> {
  const place = mkdtempSync(join(inject('run'), 'pages-'));
  const inPlace = (name: string) => join(place, name);
  for (const name of ['events', 'home', 'www']) mkdirSync(inPlace(name));
  const gateway = await startTestGateway({ EVENT_FILE_DIR: inPlace('events'), BACKEND_HOSTS: '127.0.0.1' });
  const { body: credential } = await gateway.call('POST', '/credentials', {});
  await gateway.call('POST', '/reserved_domains', { domain: '*.devices.example.com' });
  const { body: made } = await gateway.graphql('mutation { createProvisioningKey(input: { metadata: "" }) { token } }');
  const proxy = await startForwardProxy();
  const service = createServer((_, response) => response.end('Hello.\n'));
  const port = await listen(service);
  const [tcp, moreTcp] = await Promise.all([freePort(), freePort()]);
  const httpsPort = gateway.https.replace(/.*:/, '');
  let url = '';

  const here = (text: string) =>
    text
      .replace(/(?<=TUNNEL_AUTHTOKEN=|authtoken: )…/g, credential.token)
      .replace(/(?<=TUNNEL_PROVISIONING_KEY=)…/g, made.data.createProvisioningKey.token)
      .replace(/http:\/\/127\.0\.0\.1:4000|https:\/\/gateway\.example\.com(:4000)?/g, gateway.api)
      .replace(/127\.0\.0\.1:4443|([ab]\.)?gateway\.example\.com:4443/g, gateway.agent)
      .replace(/(device-7:secret@)?proxy\.example\.com:3128/g, `127.0.0.1:${proxy.ports.http}`)
      .replace(/http:\/\/4f1c….tunnel.localhost:8080(?=\/)/g, url)
      .replace(/(?<=\.localhost:)8443\b/g, httpsPort)
      .replace(/(?<=\b(http|labels) |127\.0\.0\.1:|localhost:)3000\b/g, String(port))
      .replace(/\b20022\b/g, String(tcp))
      .replace(/\b20023\b/g, String(moreTcp))
      .replace('/srv/www', inPlace('www'));

  return {
    here,
    opened(printed) {
      url = /http:\/\/\S+/.exec(printed)?.[0] ?? url;
    },
    terminalFor(page) {
      const directory = mkdtempSync(inPlace('checkout-'));
      linkEntries(root, directory, ['src']);
      linkEntries(join(root, 'src'), join(directory, 'src'), ['boot']);
      cpSync(join(root, 'src/boot'), join(directory, 'src/boot'), { recursive: true });
      // All is prepared: whoever compiled now would do so under the feet of other tests.
      writeFileSync(join(directory, 'src/boot/prepare.js'), 'export const prepare = async () => {};');
      symlinkSync(gateway.place.dataDir, join(directory, '.data'));
      cpSync(join(root, 'agent/dist/agent.js'), join(directory, 'agent.js'));
      writeFileSync(join(directory, 'ca.pem'), gateway.ca);
      writeFileSync(join(directory, 'rules.yaml'), '{}');
      for (const { marks, text } of blocksOf(page))
        if (marks.file) writeFileSync(join(directory, marks.file), here(text));
      return openTerminal(directory, mkdtempSync(inPlace('scripts-')), {
        ...{ PATH: process.env.PATH, HOME: inPlace('home'), AGENT_API_ADDR: '127.0.0.1:0' },
        ...{ API_KEY: gateway.key, GATEWAY_CA: 'ca.pem' },
      });
    },
    async close() {
      service.close();
      await Promise.all([proxy.close(), gateway.close()]);
      rmSync(place, { recursive: true });
    },
  };
}

function linkEntries(from: string, to: string, without: string[]): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from).filter((name) => !without.includes(name)))
    symlinkSync(join(from, name), join(to, name));
}

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
