// Reading and issuing certificates (X.509, RFC 5280), as far as Node does not do it.

import { webcrypto } from 'node:crypto';
import { lazyPackage } from './lazy-package.ts';

const metadata = lazyPackage<object>('reflect-metadata');
const library = lazyPackage<typeof import('@peculiar/x509')>('@peculiar/x509');
let isReady = false;

/** @returns the library for certificates, which is loaded when it is first used. */
export function x509() {
  if (!isReady) {
    metadata(); // The library is built with decorators that need it.
    library().cryptoProvider.set(webcrypto as Crypto);
    isReady = true;
  }
  return library();
}
