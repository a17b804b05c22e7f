// Dry runs of policies: the effects of each rule on a described request or connection, and the outcome.

import { errorResponse } from '../../http/error-response.ts';
import type {
  CloseConnection,
  ModuleEnvironment,
  ModuleOwner,
  ModuleRefusal,
  Responded,
  Verdict,
} from '../../http/module.ts';
import { refuseOutbound } from '../../http/outbound.ts';
import { isAmbiguousPath, pathOfTarget } from '../../http/path.ts';
import { visitorErrors } from '../../http/visitor-errors.ts';
import { ReachableHosts } from '../../net/reachable-hosts.ts';
import { compilePolicyRules, warningsOf } from '../compile/policy.ts';
import { refuseKeyFetch } from '../keys/key-cache.ts';
import type { CompiledRules } from '../run/phase-run.ts';
import { connectionModule, httpModule } from '../run/policy-modules.ts';
import { PolicyError } from '../settings/problems.ts';
import { urlAsSent } from '../settings/url-change.ts';
import {
  type DescribedExchange,
  describedEndpoint,
  describedExchange,
  describedResponse,
  syntheticResponse,
  toFieldList,
} from './described-exchange.ts';
import type { DryRunOutcome, DryRunRequest, DryRunResponse, DryRunResult, DryRunReturned } from './dry-run-types.ts';
import { Trace } from './trace.ts';

/** Replacements for parts of the environment of modules. */
export interface DryRunOptions extends Partial<Omit<ModuleEnvironment, 'note'>> {
  /** Runs the compilation of the policy, for example in a queue. Left out: it runs at once. */
  compile?<T>(work: () => T): T | Promise<T>;
  /** Called before the run of a policy that asks servers. What it throws ends the run, before anything is asked. */
  mayAsk?(): void | Promise<void>;
}

/**
 * Runs a policy in JSON or YAML. It is compiled for this run only, so that it leaves no counters behind. It logs nothing and
 * assumes that all internal endpoints are online. Keys of issuers and of webhook providers are really fetched, and `http-request`
 * is really sent, as far as `options` let it, but not to internal endpoints.
 * There are no secrets unless the options have them: they must be stand-ins, as the result shows what they are used for.
 * @param response the upstream's response. Without it, response rules only see responses of the policy itself.
 * @throws {TypeError} when the URL of the request is invalid.
 */
export async function dryRun(
  text: string,
  owner: ModuleOwner,
  request: DryRunRequest,
  response?: DryRunResponse,
  { compile = (work) => work(), mayAsk = () => {}, ...world }: DryRunOptions = {},
): Promise<DryRunResult> {
  const notes: object[] = [];
  const environment: ModuleEnvironment = {
    now: () => performance.now(),
    time: () => Date.now(),
    internal: (_accountId, url) => describedEndpoint(url),
    policyHosts: new ReachableHosts([]),
    signingKey: refuseKeyFetch,
    secrets: { of: () => new Map() },
    sendOutbound: refuseOutbound,
    ...world,
    note: (_about, metadata) => void notes.push(metadata),
  };
  const exchange = describedExchange(request, owner, environment.time());
  try {
    const rules = await compile(() => compilePolicyRules(text, owner, environment));
    if (asksServers(rules)) await mayAsk();
    const trace = new Trace(rules);
    const outcome = await new DryRun(rules, exchange, environment, trace).outcome(response);
    return { problems: [], warnings: warningsOf(rules), rules: trace.rules, notes, outcome };
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return { problems: error.problems, warnings: [], rules: [], notes, outcome: undefined };
  }
}

const asksServers = (rules: CompiledRules) =>
  Object.values(rules).some((phase) => phase.some(({ steps }) => steps.some(({ action }) => action.asksServers)));

const NO_DETAILS = { reason: undefined, request: undefined, response: undefined };

class DryRun {
  readonly #exchange: DescribedExchange;
  readonly #connection: ReturnType<typeof connectionModule>;
  readonly #http: ReturnType<typeof httpModule>;

  constructor(rules: CompiledRules, exchange: DescribedExchange, environment: ModuleEnvironment, trace: Trace) {
    this.#exchange = exchange;
    this.#connection = connectionModule(rules, environment, trace);
    this.#http = httpModule(rules, environment, trace);
  }

  async outcome(response: DryRunResponse | undefined): Promise<DryRunOutcome> {
    const exchange = this.#exchange;
    const isHttp = ['http', 'https'].includes(exchange.endpoint.proto);
    const connected = await this.#connection?.onConnection(exchange);
    if (connected?.kind === 'close') return refusedOutcome(connected);
    if (connected || !isHttp) return this.#forwarded(isHttp, connected?.endpoint.publicUrl);

    if (this.#http?.readsPath && isAmbiguousPath(pathOfTarget(exchange.request.target)))
      return refusedOutcome({
        kind: 'refuse',
        error: 'ambiguousPath',
        reason: 'servers differ in where its path leads',
      });
    const verdict = await this.#http?.onRequest?.(exchange);
    if (verdict?.kind === 'answer') return this.#answered(verdict);
    if (verdict && verdict.kind !== 'forward') return refusedOutcome(verdict);
    const forwarded = this.#forwarded(isHttp, verdict?.endpoint.publicUrl);
    if (!response) return forwarded;
    exchange.response = describedResponse(response);
    return { ...forwarded, ...(await this.#returned(undefined)) };
  }

  /** The outcome when the policy responds. The response rules see this response, too. */
  async #answered(answer: Responded): Promise<DryRunOutcome> {
    this.#exchange.response = syntheticResponse(answer);
    const returned = await this.#returned(answer.body.toString());
    return { ...NO_DETAILS, kind: 'answered', reason: answer.reason, ...returned };
  }

  /** Runs the response rules. @param body the body of the policy's own response; undefined for the upstream's. */
  async #returned(
    body: string | undefined,
  ): Promise<Partial<DryRunOutcome> & { response: DryRunReturned | undefined }> {
    const exchange = this.#exchange;
    const before = (await exchange.response?.body())?.toString() ?? '';
    const verdict: Verdict = await this.#http?.onResponse?.(exchange);
    if (verdict && verdict.kind !== 'answer' && verdict.kind !== 'forward') {
      const { kind, reason, response } = refusedOutcome(verdict);
      return { kind, reason, response };
    }
    if (verdict?.kind === 'answer') exchange.response = syntheticResponse(verdict);
    const { status = 0, fields } = exchange.response ?? {};
    const sent = (await exchange.response?.body())?.toString() ?? '';
    const shown = body !== undefined || sent !== before ? sent : undefined;
    return { response: { status, headers: toFieldList(fields?.list ?? []), body: shown, error: undefined } };
  }

  #forwarded(isHttp: boolean, internal: string | undefined): DryRunOutcome {
    const { request } = this.#exchange;
    const headers = [{ name: 'host', value: request.host }, ...toFieldList(request.fields.list)];
    const forwarded = isHttp ? { method: request.method, url: urlAsSent(request), headers, internal } : undefined;
    return { ...NO_DETAILS, kind: 'forwarded', request: forwarded };
  }
}

function refusedOutcome(verdict: ModuleRefusal | CloseConnection): DryRunOutcome {
  const { reason } = verdict;
  if (verdict.kind === 'close') return { ...NO_DETAILS, kind: 'closed', reason };
  const { status, fields, body } = errorResponse(verdict.error, false);
  const headers = toFieldList([...fields, ...(verdict.fields ?? [])]);
  const error = `ERR_GATEWAY_${visitorErrors[verdict.error].number}`;
  return { ...NO_DETAILS, kind: 'refused', reason, response: { status, headers, body: body.toString(), error } };
}
