// Parses the upstream of a tunnel: `host:port`, or a URL whose scheme says whether the upstream uses TLS; and how it is asked.

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
const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600 };
const UPSTREAM_TIMEOUT_MAX = 3600;

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

/**
 * The origin by which a server is asked: its own address, or a name of its choice.
 * @param wanted `rewrite`, or a name with or without a port. @throws {Error} the expected form.
 */
export function readHostHeader(wanted: string, forwardsTo: string): string {
  const { host, port, text } = readForwardsTo(forwardsTo);
  const scheme = text.startsWith('https:') ? 'https' : 'http';
  if (wanted === 'rewrite')
    return `${scheme}://${writeAddress({ host, port }).replace(scheme === 'https' ? /:443$/ : /:80$/, '')}`;
  if (/^[a-z0-9_][a-z0-9_.-]{0,252}(:\d{1,5})?$/i.test(wanted)) return `${scheme}://${wanted}`;
  throw new Error('must be "rewrite", or a name, as myapp.test');
}

/** Parses how long an upstream may take until its response begins. @returns seconds. @throws {Error} what is expected. */
export function readUpstreamTimeout(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNIT_SECONDS[unit] ?? 0);
  if (seconds >= 1 && seconds <= UPSTREAM_TIMEOUT_MAX) return seconds;
  throw new Error('must be a time from 1s to 1h, as 90s or 5m');
}
