// Validates challenges as a public authority does, but for where it connects: to ports of this machine.

import 'reflect-metadata'; // What the next import is built with asks for it.
import { createHash } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { get } from 'node:http';
import { connect, type TLSSocket } from 'node:tls';
import { SubjectAlternativeNameExtension, X509Certificate } from '@peculiar/x509';
import { AcmeRefused } from './faults.ts';

/** Where names are validated. An authority looks from several places: each port must give the right answer. */
export interface ValidationTargets {
  /** On 127.0.0.1. */
  httpPorts: number[];
  /** On 127.0.0.1. */
  tlsPorts: number[];
  /** The name server, address and port, or that of each name. */
  dnsServer?: string | ((name: string) => string);
}

const TIMEOUT_MS = 5000;
const BODY_MAX = 1000;

/** @throws {AcmeRefused} when the challenge is not answered. */
export async function validate(
  type: string,
  name: string,
  token: string,
  keyAuthorization: string,
  targets: ValidationTargets,
): Promise<void> {
  if (type === 'http-01') {
    if (targets.httpPorts.length === 0) throw new AcmeRefused(400, 'connection', `${name}: Connection refused`);
    await Promise.all(targets.httpPorts.map((port) => validateHttp(name, token, keyAuthorization, port)));
  } else if (type === 'tls-alpn-01') {
    if (targets.tlsPorts.length === 0) throw new AcmeRefused(400, 'connection', `${name}: Connection refused`);
    await Promise.all(targets.tlsPorts.map((port) => validateTls(name, keyAuthorization, port)));
  } else if (type === 'dns-01') await validateDns(name, keyAuthorization, targets.dnsServer);
  else throw new AcmeRefused(400, 'malformed', `Challenges of the type ${type} cannot be answered.`);
}

async function validateHttp(name: string, token: string, keyAuthorization: string, port: number): Promise<void> {
  const path = `/.well-known/acme-challenge/${token}`;
  const shown = `http://${name}${path}`;
  const { status, body } = await new Promise<{ status: number; body: string }>((resolve, reject) => {
    const request = get(
      { host: '127.0.0.1', port, path, agent: false, timeout: TIMEOUT_MS, headers: { host: name } },
      (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          body = (body + text).slice(0, BODY_MAX);
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
        response.on('error', reject);
      },
    );
    request.on('timeout', () => request.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' })));
    request.on('error', reject);
  }).catch((error) => {
    throw new AcmeRefused(400, 'connection', `127.0.0.1: Fetching ${shown}: ${reasonOf(error)}`);
  });
  if (status !== 200)
    throw new AcmeRefused(403, 'unauthorized', `127.0.0.1: Invalid response from ${shown}: ${status}`);
  if (body.trimEnd() !== keyAuthorization)
    throw new AcmeRefused(
      403,
      'unauthorized',
      `The key authorization file from the server did not match this challenge. Expected "${keyAuthorization}" (got "${body.slice(0, 100)}")`,
    );
}

async function validateTls(name: string, keyAuthorization: string, port: number): Promise<void> {
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const options = { host: '127.0.0.1', port, servername: name, ALPNProtocols: ['acme-tls/1'] };
    const socket = connect({ ...options, rejectUnauthorized: false }, () => resolve(socket));
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' })));
    socket.on('error', reject);
  }).catch((error) => {
    const isAlert = error.code?.startsWith('ERR_SSL');
    throw new AcmeRefused(400, isAlert ? 'tls' : 'connection', `127.0.0.1: ${reasonOf(error)}`);
  });
  const refuse = (detail: string) => new AcmeRefused(403, 'unauthorized', detail);
  try {
    if (socket.alpnProtocol !== 'acme-tls/1')
      throw refuse('Cannot negotiate ALPN protocol "acme-tls/1" for tls-alpn-01 challenge');
    const certificate = new X509Certificate(socket.getPeerCertificate().raw);
    const names = certificate.getExtension(SubjectAlternativeNameExtension)?.names.items ?? [];
    if (names.length !== 1 || names[0]?.type !== 'dns' || names[0].value.toLowerCase() !== name)
      throw refuse(`The certificate is for ${names.map(({ value }) => value).join(', ')}, not for ${name} alone.`);
    const extension = certificate.getExtension('1.3.6.1.5.5.7.1.31');
    if (!extension?.critical) throw refuse('The certificate has no critical extension acmeIdentifier.');
    const digest = createHash('sha256').update(keyAuthorization).digest();
    const wanted = Buffer.concat([Buffer.from([4, digest.length]), digest]);
    if (!wanted.equals(Buffer.from(extension.value)))
      throw refuse(`The extension acmeIdentifier is ${Buffer.from(extension.value).toString('hex')}.`);
  } finally {
    socket.destroy();
  }
}

async function validateDns(
  name: string,
  keyAuthorization: string,
  server: ValidationTargets['dnsServer'],
): Promise<void> {
  const first = `_acme-challenge.${name}`;
  const wanted = createHash('sha256').update(keyAuthorization).digest('base64url');
  const found = server ? await resolveTxt(first, server) : [];
  if (found.includes(wanted)) return;
  const detail = found.length > 0 ? `Incorrect TXT record "${found.join('", "')}" found` : 'No TXT record found';
  throw new AcmeRefused(403, 'unauthorized', `${detail} at ${first}`);
}

/** Servers answer for their own zones: where a CNAME leads is asked separately. */
async function resolveTxt(first: string, server: NonNullable<ValidationTargets['dnsServer']>): Promise<string[]> {
  let name = first;
  for (let hops = 0; hops < 8; hops++) {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
    resolver.setServers([typeof server === 'string' ? server : server(name)]);
    const records = await absentAsNone(resolver.resolveTxt(name), name);
    if (records.length > 0) return records.map((parts) => parts.join(''));
    const [alias] = await absentAsNone(resolver.resolveCname(name), name);
    if (!alias) return [];
    name = alias;
  }
  throw new AcmeRefused(400, 'dns', `DNS problem: too many CNAMEs looking up TXT for ${first}`);
}

async function absentAsNone<Item>(answers: Promise<Item[]>, name: string): Promise<Item[]> {
  try {
    return await answers;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENODATA' || code === 'ENOTFOUND') return [];
    throw new AcmeRefused(400, 'dns', `DNS problem: ${code} looking up TXT for ${name}`);
  }
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'Connection refused',
  ECONNRESET: 'Connection reset by peer',
  ETIMEDOUT: 'Timeout during connect (likely firewall problem)',
};

const reasonOf = ({ code = '' }: NodeJS.ErrnoException) => reasons[code] ?? `Error getting validation data (${code})`;
