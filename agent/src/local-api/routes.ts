// The routes of the local API.

import type { IncomingMessage } from 'node:http';
import type { Health } from '../run/health.ts';
import { readTunnelRequest } from '../tunnels/request.ts';
import type { Tunnels } from '../tunnels/table.ts';
import { type Answer, detail } from './answers.ts';
import { readJson } from './body.ts';
import { metricsText } from './metrics.ts';
import { created, detailed, listed } from './views.ts';

export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  /** The first group is what `handle` gets, decoded. */
  path: RegExp;
  /** Whether it needs no token: probes have none. */
  isOpen?: boolean;
  handle(request: IncomingMessage, part: string): Promise<Answer> | Answer;
}

const ok = (body: object | string): Answer => ({ status: 200, body });

export function routes(tunnels: Tunnels, health: Health): Route[] {
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
        return detail(200, 'Tunnel deleted');
      },
    },
    { method: 'GET', path: /^\/status$/, handle: () => ok(health.status()) },
    { method: 'GET', path: /^\/healthz$/, isOpen: true, handle: () => ok({ status: 'ok' }) },
    {
      method: 'GET',
      path: /^\/readyz$/,
      isOpen: true,
      handle() {
        const reasons = health.notReady();
        return { status: reasons.length > 0 ? 503 : 200, body: { ready: reasons.length === 0, reasons } };
      },
    },
    { method: 'GET', path: /^\/metrics$/, handle: () => ok(metricsText(health)) },
  ];
}
