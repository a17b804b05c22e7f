// A visit that nobody makes: what a trial run shows to the rules.

import type { HttpExchange, HttpResponse } from '../../http/exchange.ts';
import { HeaderList } from '../../http/header-list.ts';
import type { ModuleOwner, NewConnection, Responded } from '../../http/module.ts';
import type { LiveEndpoint, Proto } from '../../tunnel/endpoints/endpoint.ts';
import type { DryRunField, DryRunRequest, DryRunResponse } from './dry-run-types.ts';

/** Of documentation (RFC 5737): nobody's. */
const VISITOR_IP = '192.0.2.1';
const GATEWAY_IP = '192.0.2.254';
const PORTS: Record<Proto, number> = { http: 80, https: 443, tcp: 0, tls: 443 };

/** Both a connection and a request on it, whose answer is put there when it is known. */
export interface DescribedExchange extends HttpExchange, Pick<NewConnection, 'terminateTls'> {
  response: HttpResponse | undefined;
}

/**
 * @param time the wall clock, in milliseconds.
 * @throws {TypeError} when the URL is none.
 */
export function describedExchange(
  described: DryRunRequest,
  { proto, accountId }: ModuleOwner,
  time: number,
): DescribedExchange {
  const url = new URL(described.url);
  const headers = described.headers ?? [];
  const body = Buffer.from(described.body ?? '');
  const port = Number(url.port) || PORTS[proto];
  const isTls = proto === 'https' || proto === 'tls';
  return {
    visitor: {
      ip: described.clientIp ?? VISITOR_IP,
      port: described.clientPort ?? 50_000,
      local: { ip: GATEWAY_IP, port },
      passthrough: false,
    },
    endpoint: { id: 'ep_trial', accountId, proto, publicUrl: `${proto}://${url.host}`, hostname: url.hostname, port },
    startedAt: time,
    serverName: isTls ? url.hostname : undefined,
    tls: undefined,
    bytesIn: 0,
    bytesOut: 0,
    request: {
      method: described.method ?? 'GET',
      version: 'HTTP/1.1',
      scheme: proto === 'http' ? 'http' : 'https',
      host: headers.find(({ name }) => name.toLowerCase() === 'host')?.value ?? url.host,
      target: `${url.pathname || '/'}${url.search}`,
      fields: listOf(headers.filter(({ name }) => name.toLowerCase() !== 'host')),
      bodyLength: body.length,
      receivedAt: time,
      body: async () => body,
    },
    response: undefined,
    memory: new Map(),
    operationId: 'op_trial',
    terminateTls: isTls ? async () => true : undefined,
  };
}

/** An answer of upstream. */
export function describedResponse({ status = 200, headers = [], body = '' }: DryRunResponse): HttpResponse {
  return {
    status,
    fields: listOf(headers),
    bodyLength: Buffer.byteLength(body),
    encoding: undefined,
    isSynthetic: false,
  };
}

/** An answer of the policy's own. */
export function syntheticResponse({ status, fields, body }: Responded): HttpResponse {
  return { status, fields: new HeaderList(fields), bodyLength: body.length, encoding: undefined, isSynthetic: true };
}

/** What stands in for an internal endpoint: in a trial, all of them are online. */
export function describedEndpoint(url: string): LiveEndpoint {
  const proto = url.replace(/:.*/s, '').toLowerCase();
  return { publicUrl: url, proto } as LiveEndpoint; // Nobody opens it.
}

/** Fields as they are told. */
export function toFieldList(list: HeaderList['list']): DryRunField[] {
  return list.map(([name, value]) => ({ name, value }));
}

const listOf = (fields: readonly DryRunField[]) =>
  new HeaderList(fields.map(({ name, value }) => [name, value] as const));
