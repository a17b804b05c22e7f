// Listeners of the edge with somebody who hears of their traffic, an agent behind them and upstreams of the tests' own.

import { createModules } from '../../../src/edge/http-modules.ts';
import type { ModuleSettings } from '../../../src/edge/modules/descriptor.ts';
import { moduleDescriptors } from '../../../src/edge/modules/index.ts';
import { trafficPolicyModule } from '../../../src/edge/modules/traffic-policy.ts';
import type { EndpointRules } from '../../../src/edge/pipeline/rules/endpoint-rules.ts';
import { ModuleChain } from '../../../src/edge/pipeline/rules/module-chain.ts';
import type { PipelineServices } from '../../../src/edge/pipeline/services.ts';
import type { ConnectionReport, RequestReport, TrafficReporter } from '../../../src/edge/reports/traffic-reports.ts';
import type { LiveEndpoint } from '../../../src/tunnel/endpoints/endpoint.ts';
import { type Edge, type Peer, startUpstream, type TestEndpoint } from '../../edge/http1/support.ts';
import { environmentOf } from '../../policy/exchange-support.ts';

/** The account of all that agents of these tests open. */
export const ACCOUNT = 'ac_1';

/** Hears of one account, and keeps what it is told as it was at that moment. */
export class Hearer implements TrafficReporter {
  readonly requests: RequestReport[] = [];
  readonly connections: ConnectionReport[] = [];
  /** Nothing is heard of any other. */
  account: string | undefined = ACCOUNT;
  /** What is thrown at every call, when set. */
  error: Error | undefined;
  #onChange = () => {};

  wantsRequests(accountId: string): boolean {
    return accountId === this.account;
  }

  wantsConnections(accountId: string): boolean {
    return accountId === this.account;
  }

  request(report: RequestReport): void {
    this.requests.push(kept(report));
    this.#onChange();
    if (this.error) throw this.error;
  }

  connection(report: ConnectionReport): void {
    this.connections.push(structuredClone(report));
    this.#onChange();
    if (this.error) throw this.error;
  }

  /** Resolves when so many reports have come since the last call, and takes them. */
  async next(count = 1): Promise<RequestReport[]> {
    while (this.requests.length < count) await this.#change();
    return this.requests.splice(0);
  }

  async one(): Promise<RequestReport> {
    const [report, ...more] = await this.next();
    if (!report || more.length > 0) throw new Error(`there are ${more.length + 1} reports`);
    return report;
  }

  async nextConnection(): Promise<ConnectionReport> {
    while (this.connections.length === 0) await this.#change();
    return this.connections.shift() as ConnectionReport;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#onChange = resolve;
    });
  }
}

/** A report as plain data: what it has is made when it is asked for. */
function kept({ accountId, endpointId, connection, tls, isConnectionReused, ...report }: RequestReport): RequestReport {
  const { method, version, scheme, host, target, fields, bodyLength, firstByteAt, lastByteAt } = report.request;
  const request = { method, version, scheme, host, target, fields, bodyLength, firstByteAt, lastByteAt };
  const response = report.response && { ...report.response, fields: report.response.fields };
  const { decisions } = report;
  return structuredClone({ accountId, endpointId, connection, tls, isConnectionReused, request, response, decisions });
}

/** What visits ask, with a clock that goes on by one millisecond each time it is looked at. */
export function visitsFor(hearer: TrafficReporter, failures: unknown[] = []): PipelineServices {
  let now = 1_000_000;
  return {
    time: () => ++now,
    newOperationId: () => 'op_1',
    logRefusal: () => {},
    logFailure: (error) => void failures.push(error),
    reporter: hearer,
  };
}

await trafficPolicyModule.load?.();

/** Puts modules before an endpoint. */
export function handle<T extends LiveEndpoint>(
  endpoint: T,
  settings: Readonly<Record<string, ModuleSettings & Record<string, unknown>>>,
  { convertsWebsockets = false } = {},
): T {
  const { accountId, proto } = endpoint;
  const { modules, connection } = createModules(moduleDescriptors, settings, { accountId, proto }, environmentOf());
  const route = { chain: new ModuleChain(modules), convertsWebsockets, upstream: (to: LiveEndpoint) => to };
  const rules: EndpointRules = { connection, tls: undefined, route: () => route };
  return Object.assign(endpoint, { rules });
}

/** The value of a field, whatever its name is written like. */
export function field(message: { fields: readonly (readonly [string, string])[] } | undefined, name: string) {
  return message?.fields.find(([other]) => other.toLowerCase() === name)?.[1];
}

/** A policy of one action for every request. */
export const policyOf = (...actions: object[]) => ({
  enabled: true,
  value: JSON.stringify({ on_http_request: [{ actions }] }),
});

/** An upstream that answers every request without a body with these bytes, for `app.test`. Ends with the test. */
export async function answering(edge: Edge, answer: string): Promise<TestEndpoint> {
  return edge.serve('app.test', await startUpstream((peer) => void answerAll(peer, answer)));
}

async function answerAll(peer: Peer, answer: string): Promise<void> {
  for (;;) {
    if (!(await peer.until('\r\n\r\n').catch(() => ''))) return;
    peer.take();
    peer.send(answer);
  }
}
