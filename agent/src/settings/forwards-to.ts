// Parses the upstream of a tunnel: `host:port`, or a URL whose scheme says whether the upstream uses TLS.

import { fileURLToPath } from 'node:url';
import { readAddress, writeAddress } from './host-address.ts';

/** A parsed upstream. */
export interface ForwardsTo {
  host: string;
  port: number;
  /** The upstream with its scheme, if any, and always with a port. */
  text: string;
}

const SCHEMES = ['', 'http', 'https', 'tcp', 'tls'];
const DEFAULT_PORTS: Record<string, number> = { http: 80, https: 443 };

/** Whether an upstream is a directory of this machine. */
export const isDirectoryUrl = (text: string) => /^file:/i.test(text);

/** The directory of a `file://` URL. @throws {Error} the expected form. */
export function readDirectoryUrl(text: string): string {
  try {
    if (/^file:\/\/\//i.test(text)) return fileURLToPath(text);
  } catch {
    // Told below.
  }
  throw new Error('must be the absolute path of a directory, as file:///srv/www');
}

/** Parses the address of a server. @throws {Error} the expected form. */
export function readForwardsTo(text: string): ForwardsTo {
  const [, scheme = '', rest = ''] = /^(?:([a-z]+):\/\/)?([^/]*)\/?$/i.exec(text) ?? [];
  const defaultPort = DEFAULT_PORTS[scheme];
  try {
    if (!SCHEMES.includes(scheme)) throw new Error('unknown scheme');
    const { host, port } = readAddress(defaultPort && !/:\d+$/.test(rest) ? `${rest}:${defaultPort}` : rest, 1);
    return { host, port, text: `${scheme && `${scheme}://`}${writeAddress({ host, port })}` };
  } catch {
    throw new Error('must be host:port, as 127.0.0.1:3000, or https://host:port where the program there speaks TLS');
  }
}
