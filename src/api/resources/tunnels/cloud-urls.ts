// The URLs of cloud endpoints: as they are written, whatever the ports of the listeners are.

import { publicUrl } from '../../../tunnel/bind/bind-name.ts';
import type { Proto } from '../../../tunnel/endpoints/endpoint.ts';
import { INTERNAL_PORTS as DEFAULT_PORTS, isInternalName } from '../../../tunnel/endpoints/endpoint-registry.ts';
import { asWritten } from '../../as-written.ts';

/** A URL of a cloud endpoint, read. */
export interface CloudUrl {
  proto: Proto;
  /** Lower case; a wildcard begins with `*.`. */
  hostname: string;
  port: number;
}

const NAME_MAX = 253;
const PORT_MAX = 65_535;
const URL_FORM = /^(?:(https?|tls|tcp):\/\/)?([^/:?#]+?)\.?(?::(\d{1,5}))?\/?$/;
const NAME_FORM = /^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Reads a URL. The port of a public name is the one of its scheme; TCP and internal names may have any. Without a scheme, the port says
 * which one it is.
 * @returns undefined of what is no URL of a cloud endpoint.
 */
export function readCloudUrl(url: string): CloudUrl | undefined {
  const [, scheme, hostname = '', digits] = URL_FORM.exec(url.toLowerCase()) ?? [];
  const proto = (scheme as Proto | undefined) ?? protoOfPort(digits);
  if (hostname.length > NAME_MAX || !NAME_FORM.test(hostname)) return undefined;
  const port = digits === undefined ? DEFAULT_PORTS[proto] : Number(digits);
  if (!port || port > PORT_MAX) return undefined;
  const isOfScheme = isInternalName(hostname) || proto === 'tcp' || port === DEFAULT_PORTS[proto];
  const isTooWide = hostname.startsWith('*.') && (isInternalName(hostname) || proto === 'tcp');
  return isOfScheme && !isTooWide ? { proto, hostname, port } : undefined;
}

function protoOfPort(digits: string | undefined): Proto {
  const port = digits === undefined ? DEFAULT_PORTS.https : Number(digits);
  if (port === DEFAULT_PORTS.https) return 'https';
  return port === DEFAULT_PORTS.http ? 'http' : 'tcp';
}

/** The normal form of a URL. */
export const normalUrl = ({ proto, hostname, port }: CloudUrl) => publicUrl(proto, hostname, port);

const normalForm = (text: string) => {
  const read = readCloudUrl(text);
  return read && normalUrl(read);
};

/** What of the row behind a cloud endpoint gives its URL. A version before has written hostports, of `https` all of them. */
export const cloudUrlSelect = {
  cloudUrl: { select: { proto: true, hostname: true, port: true, written: true, pooling: true } },
  hostports: { select: { hostport: true, written: true } },
} as const;

export interface CloudUrlRow {
  cloudUrl: { proto: string; hostname: string; port: number; written: string | null; pooling: boolean } | null;
  hostports: readonly { hostport: string; written: string | null }[];
}

/** The URL of a row, and whether it is pooled; undefined before it has one. */
export function cloudUrlOf({
  cloudUrl,
  hostports,
}: CloudUrlRow): (CloudUrl & { written: string | null; pooling: boolean }) | undefined {
  if (cloudUrl) return { ...cloudUrl, proto: cloudUrl.proto as Proto };
  const [first] = hostports;
  if (!first) return undefined;
  const [hostname = '', port] = first.hostport.split(':');
  return { proto: 'https', hostname, port: Number(port), written: first.written, pooling: false };
}

/** The URL to show of the row behind a cloud endpoint, which was sent. */
export function shownCloudUrl(row: CloudUrlRow): string {
  const url = cloudUrlOf(row);
  return url ? asWritten(normalUrl(url), url.written, normalForm) : '';
}
