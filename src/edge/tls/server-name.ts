// The name that a visitor asks for in a ClientHello.

import { hostnameOf } from '../codec/host.ts';

/** A visitor's name, as it was sent and as endpoints have it. */
export interface ServerName {
  sent: string;
  name: string;
}

/** @returns undefined when it is none, or not the name of a host: addresses have no place there (RFC 6066, section 3). */
export function readServerName(sent: string | undefined): ServerName | undefined {
  if (sent === undefined || /[:[]/.test(sent) || /^[\d.]+$/.test(sent)) return undefined;
  const bytes = Buffer.from(sent, 'latin1');
  const name = hostnameOf(bytes, 0, bytes.length);
  return name === undefined ? undefined : { sent, name };
}
