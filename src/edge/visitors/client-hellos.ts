// The ClientHellos that visitors have sent, for as long as their connections last: about 2 kB each. Their fingerprints are
// computed when a policy asks for one.

import type { Socket } from 'node:net';
import { ja4Fingerprint } from '../codec/ja4.ts';

interface SeenHello {
  bytes: Buffer;
  fingerprint: string | undefined;
}

const hellos = new WeakMap<Socket, SeenHello>();

/** @param bytes a whole ClientHello. */
export function keepClientHello(raw: Socket, bytes: Buffer): void {
  hellos.set(raw, { bytes, fingerprint: undefined });
}

/** Lets the TLS socket on top of a connection have the same. */
export function copyClientHello(tls: Socket, raw: Socket): void {
  const seen = hellos.get(raw);
  if (seen) hellos.set(tls, seen);
}

/** The fingerprint (JA4) of the client; '' when it has sent no ClientHello. */
export function clientFingerprint(socket: Socket): string {
  const seen = hellos.get(socket);
  if (!seen) return '';
  seen.fingerprint ??= ja4Fingerprint(seen.bytes);
  return seen.fingerprint;
}
