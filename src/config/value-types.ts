// Types of values in environment variables: each checks a text and turns it into a value.

import { isIP } from 'node:net';
import { z } from 'zod';
import { isProxyProtocolListener, proxyProtocolListeners } from '../edge/proxy-protocol/settings.ts';
import type { EventEndpoints } from '../events/settings.ts';
import { endpointNames } from '../events/sinks/index.ts';
import { isHostRule } from '../net/host-rules.ts';
import { readCidr } from '../net/networks.ts';

export const PORTS = 65_535;

export const port = (fallback: number) =>
  z.coerce
    .number('must be a port number')
    .int('must be a whole number')
    .min(0, 'must be 0 (any free port) or more')
    .max(PORTS, `must be at most ${PORTS}`)
    .default(fallback);

export const count = (fallback: number, least: number, most: number) =>
  z.coerce
    .number('must be a number')
    .int('must be a whole number')
    .min(least, `must be at least ${least}`)
    .max(most, `must be at most ${most}`)
    .default(fallback);

export const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .default('false')
  .transform((text) => text === 'true');

/** A part of a whole, from 0 to 1. */
export const share = (fallback: number) =>
  z.coerce
    .number('must be a number from 0 to 1, as in 0.5')
    .min(0, 'must be at least 0')
    .max(1, 'must be at most 1')
    .default(fallback);

/** Comma-separated words; blanks around them do not count. */
export const listValue = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((text) => text.split(',').flatMap((word) => word.trim() || []));

/** `first-last`; one port stands for itself, and 0 for any free one. */
export const portRange = z
  .string()
  .regex(/^\d{1,5}(-\d{1,5})?$/, 'must be a range of ports, as in 20000-20999, or 0 for any free one')
  .transform((text) => {
    const [first = 0, last = first] = text.split('-').map(Number);
    return { first, last };
  })
  .refine(({ first, last }) => first <= last && last <= PORTS && (first > 0 || last === 0), {
    error: `must go upwards, from 1 to ${PORTS}`,
  });

export const milliseconds = (fallback: number, least = 1, most = 24 * 3_600_000) => count(fallback, least, most);

export const domainName = z
  .string()
  .regex(/^(?=.{1,200}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/, 'must be a domain name');

/** Pairs of a name that a sink declares and the URL of its stand-in: `name=https://host:port,…`. */
export const endpoints = listValue('').transform((pairs, context) => {
  const read: Record<string, string> = {};
  for (const pair of pairs) {
    const [name = '', url = ''] = pair.split(/=(.*)/s);
    if (!endpointNames.includes(name) || !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
      context.addIssue(`must be name=URL with names out of ${endpointNames.join(', ')}: "${pair}" is not`);
    read[name] = url.replace(/\/+$/, '');
  }
  return read satisfies EventEndpoints;
});

export const networksOrHosts = listValue('').transform((entries, context) => {
  for (const entry of entries)
    if (!isHostRule(entry))
      context.addIssue(`must be names, as hooks.example.com or *.example.com, or networks: "${entry}" is not`);
  return entries;
});

export const networks = listValue('').transform((entries, context) => {
  for (const entry of entries)
    if (!readCidr(entry))
      context.addIssue(`must be addresses or networks, as 10.0.0.2 or 10.0.0.0/8: "${entry}" is neither`);
  return entries;
});

/** Addresses with a port: `a.example.com:4443`, `10.0.0.2:4443`, `[fd00::2]:4443`. */
export const hostPorts = listValue('').transform((addresses, context) => {
  for (const address of addresses) {
    const [, bracketed, host = '', number] = /^(?:\[(.*)\]|([^:]+)):(\d{1,5})$/.exec(address) ?? [];
    const isHost = bracketed === undefined ? /^[a-z0-9_]([a-z0-9_.-]{0,252})$/i.test(host) : isIP(bracketed) === 6;
    if (!isHost || !(Number(number) >= 1 && Number(number) <= PORTS))
      context.addIssue(`must be host:port, as a.example.com:4443 or [fd00::2]:4443: "${address}" is not`);
  }
  return addresses;
});

/** Listeners that proxies may stand in front of. */
export const proxied = listValue('').transform((names, context) => {
  for (const name of names)
    if (!isProxyProtocolListener(name))
      context.addIssue(`must be listeners out of ${proxyProtocolListeners.join(', ')}: "${name}" is none`);
  return names.filter(isProxyProtocolListener);
});

/** IP addresses, each with a port or without: `10.0.0.2`, `10.0.0.2:5353`, `[fd00::2]:53`. */
export const dnsServers = listValue('').transform((servers, context) => {
  for (const server of servers) {
    const [, bracketed, plain, number = '53'] = /^(?:\[(.*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(server) ?? [];
    if (isIP(bracketed ?? plain ?? server) === 0 || Number(number) < 1 || Number(number) > PORTS)
      context.addIssue(`must be IP addresses, as 10.0.0.2, 10.0.0.2:5353 or [fd00::2]:53: "${server}" is none`);
  }
  return servers;
});

export const serverKey = z
  .string()
  .refine(
    (text) => Buffer.from(text, 'base64').toString('base64') === text && Buffer.from(text, 'base64').length === 32,
    {
      error: 'must be 32 bytes in base64 (openssl rand -base64 32)',
    },
  );

export const secretValue = z
  .string()
  .regex(/^[\x21-\x7e]{16,256}$/, 'must be 16 to 256 printable ASCII characters without spaces');
