// The cipher suites and groups of every TLS listener, and of connections to hosts that others have chosen.

import { getFips } from 'node:crypto';
import { DEFAULT_CIPHERS } from 'node:tls';

/**
 * The cipher suites of every TLS listener: those of Mozilla's intermediate configuration with forward secrecy and AEAD.
 * Suites with CBC, or with an authentication tag of 8 bytes (CCM_8), are left out as weaker.
 */
export const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/**
 * The groups of key exchanges, as `ecdhCurve`: those of Mozilla's intermediate configuration, and the hybrid one with
 * ML-KEM where the OpenSSL of this Node has it. Left to itself OpenSSL also takes finite fields of up to 8192 bits
 * (RFC 7919), of which one handshake costs a hundred times as much: a ClientHello that is sent again and again, without
 * any work of its sender, would keep the thread busy (CVE-2002-20001). P-521 and X448 are left out for their cost too.
 *
 * A server takes the groups of the context that its connection begins with: a context that `SNICallback` gives comes too
 * late. `setSecureContext` forgets those of before.
 */
export const GROUPS = groupsOf(process.versions.openssl);

/** What every listener speaks TLS on. Versions, and what is asked of clients, are its own. */
export const SERVER_TLS = { ciphers: CIPHERS, ecdhCurve: GROUPS, honorCipherOrder: true } as const;

/**
 * What the gateway speaks TLS with to hosts that others have chosen. A server of TLS 1.2 may otherwise choose a finite field of any size
 * (`DHE`), whose exponentiation it leaves to us.
 */
export const CLIENT_TLS = { ciphers: `${DEFAULT_CIPHERS}:!kDHE`, ecdhCurve: GROUPS } as const;

/**
 * Nothing is tried out: Node leaves the error of an unknown group in OpenSSL's queue, where an export of a key takes it for
 * its own.
 * @param openssl its version. From 3.5 on it knows ML-KEM, leaves out what it does not have (`?`), and as a client sends
 * keys of several groups at once (`*`).
 */
export function groupsOf(openssl: string): string {
  const [major = 0, minor = 0] = openssl.split('.').map(Number);
  if (major > 3 || (major === 3 && minor >= 5)) return '?*X25519MLKEM768:?*X25519:P-256:P-384';
  return getFips() === 1 ? 'P-256:P-384' : 'X25519:P-256:P-384';
}
