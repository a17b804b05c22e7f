// A certificate for servers on this machine, and the authority that issued it.

import { exportKey, issueAuthority, issueLeaf, newKeyPair } from '../../../src/runtime/issue-certificates.ts';
import { x509 } from '../../../src/runtime/x509.ts';

/** In PEM. */
export interface LoopbackIdentity {
  cert: string;
  key: string;
  ca: string;
}

/** For `localhost` and 127.0.0.1. */
export async function newLoopbackIdentity(): Promise<LoopbackIdentity> {
  const [authority, own] = await Promise.all([newKeyPair(), newKeyPair()]);
  const ca = await issueAuthority(authority, 'loopback', 2);
  const leaf = await issueLeaf(new (x509().X509Certificate)(ca), authority, {
    commonName: 'localhost',
    names: [
      { type: 'dns', value: 'localhost' },
      { type: 'ip', value: '127.0.0.1' },
    ],
    usages: ['server'],
    publicKey: own.publicKey,
    days: 2,
  });
  return { cert: `${leaf.toString('pem')}\n`, key: await exportKey(own), ca };
}
