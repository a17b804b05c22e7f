// A certificate for those who end TLS beside the gateway, which makes its own.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { find } from './processes.js';

/**
 * Makes a certificate of the kind that the gateway has (ECDSA, P-256).
 * @param {string} directory
 * @returns {string | undefined} a file with the certificate and its key; nothing where OpenSSL is not installed.
 */
export function makeIdentity(directory) {
  const openssl = find('openssl');
  if (!openssl) return undefined;
  const [cert, key, file] = ['cert.pem', 'key.pem', 'identity.pem'].map((name) => join(directory, name));
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=localhost'];
  execFileSync(openssl, ['req', '-x509', ...kind, '-keyout', `${key}`, '-out', `${cert}`], { stdio: 'ignore' });
  writeFileSync(`${file}`, [cert, key].map((part) => readFileSync(`${part}`, 'utf8')).join(''));
  return file;
}
