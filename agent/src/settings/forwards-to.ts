// Where a tunnel leads: `host:port`, or a URL whose scheme says that the upstream speaks TLS.

import { readAddress, writeAddress } from './config.ts';

export interface ForwardsTo {
  host: string;
  port: number;
  /** As the connection to the gateway takes it: always with a port. */
  text: string;
}

const SCHEMES = ['', 'http', 'https', 'tcp', 'tls'];
const USUAL_PORTS: Record<string, number> = { http: 80, https: 443 };

/** @throws with what would be right. */
export function readForwardsTo(text: string): ForwardsTo {
  const [, scheme = '', rest = ''] = /^(?:([a-z]+):\/\/)?([^/]*)\/?$/i.exec(text) ?? [];
  const usual = USUAL_PORTS[scheme];
  try {
    if (!SCHEMES.includes(scheme)) throw new Error('of another scheme');
    const { host, port } = readAddress(usual && !/:\d+$/.test(rest) ? `${rest}:${usual}` : rest, 1);
    return { host, port, text: `${scheme && `${scheme}://`}${writeAddress({ host, port })}` };
  } catch {
    throw new Error('must be host:port, as 127.0.0.1:3000, or https://host:port where the program there speaks TLS');
  }
}
