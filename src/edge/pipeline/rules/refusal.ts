// Visitors who are turned away.

import type { HttpExchange } from '../../../http/exchange.ts';
import type { ModuleRefusal, Verdict } from '../../../http/module.ts';

/** A visitor who was turned away, for the log. */
export interface VisitorRefusal {
  /** The visitor was shown the same; undefined when the connection was closed without a word. */
  operationId: string | undefined;
  /** Which module it was, and why. */
  module: string;
  reason: string;
  /** What the visitor was told: a status; undefined when nothing. */
  status: number | undefined;
  endpointId: string;
  accountId: string;
  ip: string;
  /** Of a request. */
  method?: string;
  host?: string;
  path?: string;
}

/** A request that was turned away at the endpoint whose turn it is. */
export function requestRefusal(
  { endpoint, request, visitor }: HttpExchange,
  why: Pick<VisitorRefusal, 'operationId' | 'module' | 'reason' | 'status'>,
): VisitorRefusal {
  return {
    ...why,
    endpointId: endpoint.id,
    accountId: endpoint.accountId,
    ip: visitor.ip,
    method: request.method,
    host: request.host,
    path: request.target.replace(/\?.*/s, ''),
  };
}

/** What a module has decided on a request or a response. */
export interface ModuleResult {
  module: { name: string };
  verdict: NonNullable<Verdict>;
}

export const policyRefusal = (reason: string): ModuleRefusal => ({ kind: 'refuse', error: 'policyFailed', reason });
