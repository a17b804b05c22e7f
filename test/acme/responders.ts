// Answers the challenges of ACME servers for the names of a test, and orders certificates with them.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSecureContext, createServer as createTlsServer, type SecureContext } from 'node:tls';
import { newCertificateRequest } from '../../src/acme/client/certificate-request.ts';
import type { AcmeClient } from '../../src/acme/client/client.ts';
import type { AcmeOrder } from '../../src/acme/client/resources.ts';
import { tlsAlpnCertificate } from '../../src/acme/client/tls-alpn-certificate.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { eventually } from '../support/eventually.ts';

export type ChallengeType = 'http-01' | 'tls-alpn-01' | 'dns-01';

export interface Responders {
  httpPort: number;
  tlsPort: number;
  dns: DnsServer;
  /** Puts the answer where the server looks for it. */
  answer(client: AcmeClient, type: ChallengeType, name: string, token: string): Promise<void>;
  stop(): Promise<void>;
}

/** Every name of example.com leads to 127.0.0.1, and its TXT records are in another zone. */
export async function startResponders(): Promise<Responders> {
  const files = new Map<string, string>();
  const contexts = new Map<string, SecureContext>();
  const http = createServer((request, response) => {
    const file = files.get(`${request.headers.host?.replace(/:\d+$/, '')}${request.url}`);
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  const tls = createTlsServer({
    ALPNProtocols: ['acme-tls/1'],
    SNICallback: (name, found) => found(null, contexts.get(name)),
  });
  tls.on('tlsClientError', () => {}); // Clients that are told of no certificate.
  const dns = await startDnsServer({ '*.example.com': ['127.0.0.1'] });
  for (const server of [http, tls]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  return {
    httpPort: (http.address() as AddressInfo).port,
    tlsPort: (tls.address() as AddressInfo).port,
    dns,
    async answer(client, type, name, token) {
      if (type === 'http-01')
        files.set(`${name}/.well-known/acme-challenge/${token}`, await client.keyAuthorization(token));
      else if (type === 'tls-alpn-01')
        contexts.set(name, createSecureContext(await tlsAlpnCertificate(name, await client.keyAuthorization(token))));
      else {
        const target = `${name.split('.')[0]}.acme.test`;
        dns.zone[`_acme-challenge.${name}`] = { cname: target };
        const entry = dns.zone[target];
        const earlier = entry && typeof entry === 'object' && 'txt' in entry ? entry.txt : [];
        dns.zone[target] = { txt: [...earlier, await client.dnsValue(token)] };
      }
    },
    async stop() {
      http.closeAllConnections();
      http.close();
      tls.close();
      await dns.close();
    },
  };
}

export interface Obtained {
  order: AcmeOrder;
  privateKeyPem: string;
}

/** Answers what a new order asks for, and brings it to an end. @returns the order, valid or not. */
export async function obtain(
  client: AcmeClient,
  order: AcmeOrder,
  type: ChallengeType,
  responders: Responders,
  keyType: 'ecdsa' | 'rsa' = 'ecdsa',
): Promise<Obtained> {
  const urls: string[] = [];
  for (const url of order.authorizations) {
    const { status, name, challenges } = await client.authorization(url);
    if (status === 'valid') continue;
    const challenge = challenges.find((one) => one.type === type);
    if (!challenge?.token) throw new Error(`${name} has no challenge ${type}`);
    await responders.answer(client, type, name, challenge.token);
    urls.push(challenge.url);
  }
  for (const url of urls) await client.ready(url);
  const decided = await leaving(client, order.url, 'pending');
  const { csr, privateKeyPem } = await newCertificateRequest(order.names, keyType);
  if (decided.status !== 'ready') return { order: decided, privateKeyPem };
  await client.finalize(decided, csr);
  return { order: await leaving(client, order.url, 'processing'), privateKeyPem };
}

/** The order when it has another status than this one. */
export function leaving(client: AcmeClient, url: string, status: string): Promise<AcmeOrder> {
  return eventually(async () => {
    const order = await client.order(url);
    if (order.status === status) throw new Error(`The order is still ${status}.`);
    return order;
  });
}
