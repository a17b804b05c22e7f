// The routes of the local API.

import type { IncomingMessage } from 'node:http';
import { describeJsonError } from '@gateway/protocol';
import { DetailError } from '../detail-error.ts';
import { readTunnelRequest } from '../tunnels/request.ts';
import type { TunnelTable } from '../tunnels/tunnel-table.ts';
import type { AgentHealth } from './health.ts';
import { metricsText } from './metrics.ts';
import { type ApiResponse, detailResponse } from './responses.ts';
import { createdTunnel, tunnelDetails, tunnelSummary } from './views.ts';

/** A route. */
export interface ApiRoute {
  method: 'GET' | 'POST' | 'DELETE';
  /** A pattern for the path. `handle` gets its first group, percent-decoded. */
  path: RegExp;
  /** Whether the route needs no token; health probes have none. */
  isPublic?: boolean;
  handle(request: IncomingMessage, part: string): Promise<ApiResponse> | ApiResponse;
}

const BODY_MAX_BYTES = 1024 * 1024;

const ok = (body: object | string): ApiResponse => ({ status: 200, body });

/** The routes of the local API. */
export function routes(tunnels: TunnelTable, health: AgentHealth): ApiRoute[] {
  return [
    { method: 'GET', path: /^\/tunnels$/, handle: () => ok(tunnels.all.map(tunnelSummary)) },
    {
      method: 'POST',
      path: /^\/tunnels$/,
      async handle(request) {
        const tunnelRequest = readTunnelRequest(await readJson(request));
        return ok(createdTunnel(await tunnels.create(tunnelRequest), tunnelRequest.policy));
      },
    },
    { method: 'GET', path: /^\/tunnels\/([^/]+)$/, handle: (_, part) => ok(tunnelDetails(tunnels.find(part))) },
    {
      method: 'DELETE',
      path: /^\/tunnels\/([^/]+)$/,
      async handle(_, part) {
        await tunnels.delete(tunnels.find(part));
        return detailResponse(200, 'Tunnel deleted');
      },
    },
    { method: 'GET', path: /^\/status$/, handle: () => ok(health.status()) },
    { method: 'GET', path: /^\/healthz$/, isPublic: true, handle: () => ok({ status: 'ok' }) },
    {
      method: 'GET',
      path: /^\/readyz$/,
      isPublic: true,
      handle() {
        const reasons = health.notReadyReasons();
        return { status: reasons.length > 0 ? 503 : 200, body: { ready: reasons.length === 0, reasons } };
      },
    },
    { method: 'GET', path: /^\/metrics$/, handle: () => ok(metricsText(health)) },
  ];
}

/** Reads the JSON body of a request. @throws {DetailError} 415, 413 or 400. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json')
    throw new DetailError(415, 'The body must be JSON: send "Content-Type: application/json".');
  const tooLong = new DetailError(413, `The body must have at most ${BODY_MAX_BYTES} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > BODY_MAX_BYTES) throw tooLong;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_MAX_BYTES) throw tooLong;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch (error) {
    throw new DetailError(400, `The body must be JSON in UTF-8: ${describeJsonError(error)}.`);
  }
}
