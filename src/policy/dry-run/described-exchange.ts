// The exchange of a dry run, made of the description of a request or a connection.

import { describeOwnBody } from '../../http/body-fields.ts';
import { transformWhole } from '../../http/body-transform.ts';
import type { HttpExchange, HttpResponse } from '../../http/exchange.ts';
import { HeaderList } from '../../http/header-list.ts';
import type { ModuleOwner, NewConnection, Responded } from '../../http/module.ts';
import type { LiveEndpoint, Proto } from '../../tunnel/endpoints/endpoint.ts';
import type { DryRunField, DryRunRequest, DryRunResponse } from './dry-run-types.ts';

/** Addresses for documentation (RFC 5737), which no host has. */
const VISITOR_IP = '192.0.2.1';
const GATEWAY_IP = '192.0.2.254';
const PORTS: Record<Proto, number> = { http: 80, https: 443, tcp: 0, tls: 443 };

/** A connection and a request on it. The response is set when it is known. */
export interface DescribedExchange extends HttpExchange, Pick<NewConnection, 'terminateTls'> {
  response: HttpResponse | undefined;
}

/**
 * Makes the exchange.
 * @param time the current time of the wall clock, in milliseconds.
 * @throws {TypeError} when the URL is invalid.
 */
export function describedExchange(
  described: DryRunRequest,
  { proto, accountId }: ModuleOwner,
  time: number,
): DescribedExchange {
  const url = new URL(described.url);
  const headers = described.headers ?? [];
  let body: Buffer = Buffer.from(described.body ?? '');
  const fields = listOf(
    headers.filter(({ name }) => name.toLowerCase() !== 'host'),
    true,
  );
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
      fields,
      visitorCookies: headers
        .filter(({ name }) => name.toLowerCase() === 'cookie')
        .flatMap(({ value }) => value.split(/; */)),
      get bodyLength() {
        return body.length;
      },
      receivedAt: time,
      body: async () => body,
      replaceBody(other) {
        body = other;
        describeOwnBody(fields, other);
      },
    },
    response: undefined,
    memory: new Map(),
    operationId: 'op_trial',
    signal: new AbortController().signal,
    terminateTls: isTls ? async () => true : undefined,
  };
}

/** Makes a response of the upstream. */
export function describedResponse({ status = 200, headers = [], body = '' }: DryRunResponse): HttpResponse {
  return responseWith(status, listOf(headers, false), Buffer.from(body), false);
}

function responseWith(status: number, fields: HeaderList, sent: Buffer, isSynthetic: boolean): HttpResponse {
  let body = sent;
  const replaceBody = (other: Buffer) => {
    body = other;
    describeOwnBody(fields, other);
  };
  return {
    ...{ status, fields, encoding: undefined, isSynthetic },
    get bodyLength() {
      return body.length;
    },
    body: async () => body,
    replaceBody,
    transformBody: async (transform) => replaceBody(await transformWhole(body, transform)),
  };
}

/** Makes the response of a policy. */
export function syntheticResponse({ status, fields, body }: Responded): HttpResponse {
  return responseWith(status, new HeaderList(fields), body, true);
}

/** A stand-in for an internal endpoint. In a dry run all of them are online. */
export function describedEndpoint(url: string): LiveEndpoint {
  const proto = url.replace(/:.*/s, '').toLowerCase();
  return { publicUrl: url, proto } as LiveEndpoint; // A dry run opens no streams.
}

/** Header fields as the result of a dry run has them. */
export function toFieldList(list: HeaderList['list']): DryRunField[] {
  return list.map(([name, value]) => ({ name, value }));
}

const listOf = (fields: readonly DryRunField[], isOfRequest: boolean) =>
  new HeaderList(
    fields.map(({ name, value }) => [name, value] as const),
    isOfRequest,
  );
