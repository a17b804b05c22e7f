// Certificate authorities that are refused.

import { leafPem, plainPem, privateKeyPem, requestPem } from '../rows/certificates.ts';
import type { World } from '../world.ts';
import { type HostileCase, wrong } from './case.ts';

const pem = (title: string, number: number, make: (world: World) => string | Promise<string>): HostileCase =>
  wrong('createAuthority', 'ca_pem', undefined, number, {
    title,
    blamed: 'ca_pem',
    body: async (world) => ({ ca_pem: await make(world) }),
  });
const withHeaders = (text: string) => text.replace('-----\n', '-----\nProc-Type: 4,ENCRYPTED\n\n');
export const wrongAuthorities: HostileCase[] = [
  pem('nothing', 1919, () => ''),
  pem('no PEM', 1919, () => 'MIIB'),
  pem('a private key', 1911, privateKeyPem),
  pem('a certificate request', 1911, requestPem),
  pem('a certificate and its key', 1911, async ({ caPem }) => `${caPem}\n${await privateKeyPem()}`),
  pem('two certificates', 1912, ({ caPem }) => `${caPem}\n${caPem}`),
  pem('the certificate of no authority', 1913, leafPem),
  pem('a certificate without basic constraints', 1913, plainPem),
  pem('PEM headers', 1910, ({ caPem }) => withHeaders(caPem)),
  pem('a PEM without its end', 1920, ({ caPem }) => caPem.slice(0, -30)),
  pem('a PEM of nothing', 1920, () => '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----'),
  pem('garbage in PEM', 1920, () => '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'),
  pem('a certificate cut short', 1920, ({ caPem }) => caPem.replace(/\n[^\n]+\n-----END/, '\n-----END')),
  pem('more than 16 KiB', 1921, ({ caPem }) => `${'#'.repeat(16 * 1024)}\n${caPem}`),
  pem('U+0000 around it', 215, ({ caPem }) => `\0${caPem}`),
];
