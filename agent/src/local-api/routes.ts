// The routes of the local API.

import type { IncomingMessage } from 'node:http';
import type { AgentHealth } from '../run/health.ts';
import { readTunnelRequest } from '../tunnels/request.ts';
import type { TunnelTable } from '../tunnels/tunnel-table.ts';
import { readJson } from './body.ts';
import { metricsText } from './metrics.ts';
import { type ApiResponse, detailResponse } from './responses.ts';
import { created, detailed, listed } from './views.ts';

export interface ApiRoute {
  method: 'GET' | 'POST' | 'DELETE';
  /** The first group is what `handle` gets, decoded. */
  path: RegExp;
  /** Whether it needs no token: probes have none. */
  isPublic?: boolean;
  handle(request: IncomingMessage, part: string): Promise<ApiResponse> | ApiResponse;
}

const ok = (body: object | string): ApiResponse => ({ status: 200, body });

export function routes(tunnels: TunnelTable, health: AgentHealth): ApiRoute[] {
  return [
    { method: 'GET', path: /^\/tunnels$/, handle: () => ok(tunnels.all.map(listed)) },
    {
      method: 'POST',
      path: /^\/tunnels$/,
      async handle(request) {
        const wanted = readTunnelRequest(await readJson(request));
        return ok(created(await tunnels.create(wanted), wanted.policy));
      },
    },
    { method: 'GET', path: /^\/tunnels\/([^/]+)$/, handle: (_, part) => ok(detailed(tunnels.find(part))) },
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
        const reasons = health.notReady();
        return { status: reasons.length > 0 ? 503 : 200, body: { ready: reasons.length === 0, reasons } };
      },
    },
    { method: 'GET', path: /^\/metrics$/, handle: () => ok(metricsText(health)) },
  ];
}
