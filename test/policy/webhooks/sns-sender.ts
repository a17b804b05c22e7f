// Amazon SNS in the place of which a server on this machine stands: it signs messages as its documentation says, written
// apart from what checks them, and publishes its certificate in ways right and wrong.

import { ReachableHosts } from '../../../src/net/reachable-hosts.ts';
import 'reflect-metadata'; // What the next import is built with asks for it.
import { KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';
import { expect } from 'vitest';
import type { StandInServer } from '../../../src/policy/keys/fetch-bytes.ts';
import { SigningKeys } from '../../../src/policy/webhooks/signing-keys.ts';
import { newIssuer } from '../../support/issuer.ts';
import { environmentOf, exchangeOf, NOON } from '../exchange-support.ts';

export const HOST = 'sns.us-east-1.amazonaws.com';
export const CERTIFICATE = '/SimpleNotificationService-01d088a6f77103d0fe307c0069e40ed6.pem';
export const CERTIFICATE_URL = `https://${HOST}${CERTIFICATE}`;
export const TOPIC = 'arn:aws:sns:us-east-1:123456789012:orders';

export type Fields = Record<string, unknown>;

export const notification = (more: Fields = {}): Fields => ({
  Type: 'Notification',
  MessageId: 'dc1e94d9-56c5-5e96-808d-cc7f68faa162',
  TopicArn: TOPIC,
  Message: 'an order\nof two lines, and an ü',
  Timestamp: new Date(NOON - 1000).toISOString(),
  ...more,
});

export const confirmation = (type = 'SubscriptionConfirmation', more: Fields = {}): Fields => ({
  ...notification(),
  Type: type,
  Message: 'You have chosen to subscribe',
  Token: '2336412f37fb687f5d51e6e241d09c81',
  SubscribeURL: `https://${HOST}/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=2336412f37fb687f5d51e6e241d09c81`,
  ...more,
});

/** As the documentation has it, line by line. */
function stringToSign({ Type, Message, MessageId, Subject, Timestamp, TopicArn, Token, SubscribeURL }: Fields): string {
  const end = `TopicArn\n${TopicArn}\nType\n${Type}\n`;
  const begin = `Message\n${Message}\nMessageId\n${MessageId}\n`;
  if (Type !== 'Notification')
    return `${begin}SubscribeURL\n${SubscribeURL}\nTimestamp\n${Timestamp}\nToken\n${Token}\n${end}`;
  const subject = Subject == null ? '' : `Subject\n${Subject}\n`;
  return `${begin}${subject}Timestamp\n${Timestamp}\n${end}`;
}

export interface SignedBy {
  pem: string;
  keys: CryptoKeyPair;
  /** Signs with SHA-1 as version 1, with SHA-256 as version 2. */
  sign(fields: Fields, version?: '1' | '2', url?: string): Fields;
}

export interface SignerWanted {
  subject?: string;
  dns?: string;
  notBefore?: Date;
  notAfter?: Date;
  algorithm?: RsaHashedKeyGenParams | (EcKeyGenParams & { hash: string });
  /** Of another signer; a key of its own when left out. */
  keys?: CryptoKeyPair;
}

const rsa = (modulusLength: number): RsaHashedKeyGenParams => ({
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength,
  publicExponent: new Uint8Array([1, 0, 1]),
});
export const SHORT_KEY = rsa(1024);

/** A key, and its certificate, of the middle of a year unless told otherwise. */
export async function newSigner(wanted: SignerWanted = {}): Promise<SignedBy> {
  const { subject = 'CN=sns.amazonaws.com', dns, algorithm = rsa(2048) } = wanted;
  const keys = wanted.keys ?? (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']));
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: subject,
    keys,
    signingAlgorithm: algorithm,
    notBefore: wanted.notBefore ?? new Date(NOON - 86_400_000),
    notAfter: wanted.notAfter ?? new Date(NOON + 86_400_000),
    extensions: dns ? [new SubjectAlternativeNameExtension([{ type: 'dns', value: dns }])] : [],
  });
  const key = KeyObject.from(keys.privateKey);
  return {
    pem: `${certificate.toString('pem')}\n`,
    keys,
    sign(fields, version = '1', url = CERTIFICATE_URL) {
      return {
        ...fields,
        SignatureVersion: version,
        Signature: sign(version === '1' ? 'RSA-SHA1' : 'RSA-SHA256', Buffer.from(stringToSign(fields)), key).toString(
          'base64',
        ),
        SigningCertURL: url,
      };
    },
  };
}

export type CertificateHost = Awaited<ReturnType<typeof startCertificateHost>>;

/** The host of the certificates, for all its regions. */
export async function startCertificateHost(pem: string) {
  const authority = await newIssuer('CN=an authority of the public');
  const dns = [HOST, 'sns.eu-west-1.amazonaws.com', 'sns.cn-north-1.amazonaws.com.cn'];
  const identity = await authority.issue({ subject: 'CN=sns', dns, purpose: 'server' });
  const publish = (body: string | Buffer, status = 200, headers = {}) => {
    host.answer = (response) => void response.writeHead(status, headers).end(body);
  };
  const server = createServer(identity, ({ headers, url = '' }, response) => {
    host.asked.push(`https://${headers.host}${url}`);
    host.answer(response);
  });
  server.on('connection', () => host.connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const standIn: StandInServer = {
    resolve: (name, _options, found) => {
      host.lookedUp.push(name);
      process.nextTick(() => found(null, [{ address: host.address, family: 4 }]));
    },
    port,
    ca: authority.cert,
  };
  const host = {
    standIn,
    /** Where its names lead. */
    address: '127.0.0.1',
    lookedUp: [] as string[],
    connections: 0,
    /** URLs that were asked for, in order. */
    asked: [] as string[],
    answer: (_response: ServerResponse): void => undefined,
    /** What it answers from now on, whatever it is asked for. */
    publish,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  publish(pem);
  return host;
}

/** What a check of a message needs, with no certificate known. */
export function worldOf(host: CertificateHost) {
  const environment = environmentOf();
  const keys = new SigningKeys({ hosts: new ReachableHosts([], true), standIn: host.standIn }, environment);
  return { ...environment, signingKey: keys.find.bind(keys) };
}

/** The request that brings a message. */
export const sent = (body: Fields | string, fields: [string, string][] = []) =>
  exchangeOf({ method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), fields });

export const refusal = (reason: string | RegExp) => ({
  verified: false,
  error: 'webhookRefused',
  reason: expect.stringMatching(reason),
});
