// The modules that run a compiled policy on traffic.

import type { HttpExchange } from '../../http/exchange.ts';
import type { ConnectionModule, HttpModule, ModuleEnvironment, UpstreamOutcome, Verdict } from '../../http/module.ts';
import { ownPathOf } from '../sign-in/requests.ts';
import { varyByCookie } from '../sign-in/sign-in.ts';
import {
  type ActionResults,
  type CompiledRules,
  PhaseRun,
  type PolicyRule,
  type RuleStep,
  type RunObserver,
} from './phase-run.ts';

/** The name of policies in the API and the log. */
const NAME = 'traffic_policy';

/**
 * The module for the rules of requests and responses.
 * @returns undefined when there are none.
 */
export function httpModule(
  rules: CompiledRules,
  environment: ModuleEnvironment,
  observer?: RunObserver,
): HttpModule | undefined {
  const { on_http_request: requests, on_http_response: responses } = rules;
  if (!requests && !responses) return undefined;
  const waits = (requests ?? []).some(({ steps }) => steps.some(({ action }) => action.onOutcome));
  const signIn = signInOf(requests ?? []);
  const readsPath = [requests, responses].some((phase) => phase?.some((rule) => rule.readsPath));
  const module: HttpModule = {
    name: NAME,
    ...(readsPath && { readsPath }),
    ...(signIn && { signsIn: true }),
    ...targetsOf(requests),
    ...servedOnlyBy(requests),
  };

  if (requests)
    module.onRequest = (exchange) => {
      const run = new PhaseRun(requests, 'on_http_request', { exchange }, new Map(), environment, observer);
      if (signIn && ownPathOf(exchange.request.target))
        return run.answerOwnPath(...signIn) as Verdict | Promise<Verdict>;
      if (responses || waits) exchange.memory.set(module, run);
      if (!waits) return run.start() as Verdict | Promise<Verdict>;
      return runAndRelease(exchange, run);
    };
  if (responses || signIn)
    module.onResponse = (exchange) => {
      const vary = (verdict: Verdict) => (signIn ? varyByCookie(exchange, verdict) : verdict);
      if (!responses) return vary(undefined);
      const earlier = exchange.memory.get(module) as PhaseRun | undefined;
      const results: ActionResults = earlier?.actions ?? new Map();
      const run = new PhaseRun(responses, 'on_http_response', { exchange }, results, environment, observer);
      const verdict = run.start() as Verdict | Promise<Verdict>;
      return verdict instanceof Promise ? verdict.then(vary) : vary(verdict);
    };
  if (waits)
    module.onOutcome = (exchange, outcome) => {
      const run = exchange.memory.get(module) as PhaseRun | undefined;
      if (run) release(exchange, run, outcome);
    };
  return module;
}

/**
 * The module for the rules of new connections.
 * @returns undefined when there are none.
 */
export function connectionModule(
  { on_tcp_connect: rules }: CompiledRules,
  environment: ModuleEnvironment,
  observer?: RunObserver,
): ConnectionModule | undefined {
  if (!rules) return undefined;
  return {
    name: NAME,
    ...targetsOf(rules),
    ...servedOnlyBy(rules),
    endsTls: rules.some(({ steps }) => steps.some(({ action }) => action.endsTls)),
    onConnection(connection) {
      const run = new PhaseRun(rules, 'on_tcp_connect', { connection }, new Map(), environment, observer);
      return run.start() as ReturnType<ConnectionModule['onConnection']>;
    },
  };
}

/** The step by which visitors sign in, and its rule. */
function signInOf(rules: readonly PolicyRule[]): [PolicyRule, RuleStep] | undefined {
  for (const rule of rules) for (const step of rule.steps) if (step.action.answerOwnPath) return [rule, step];
  return undefined;
}

function targetsOf(rules: readonly PolicyRule[] = []): { leadsTo?: readonly string[] } {
  const leadsTo = rules.flatMap(({ steps }) => steps.flatMap(({ action }) => action.leadsTo ?? []));
  return leadsTo.length > 0 ? { leadsTo } : {};
}

/** Where the last rule ends the run for everybody, its server alone counts: rules before it are for some visitors. */
function servedOnlyBy(rules: readonly PolicyRule[] = []): { servedOnlyBy?: readonly string[] } {
  const servers = (some: readonly PolicyRule[]) =>
    some.flatMap(({ steps }) => steps.flatMap(({ action }) => action.servedBy ?? []));
  const byDefault = servers(rules.filter(isForAll)).slice(-1);
  const all = byDefault.length > 0 ? byDefault : servers(rules);
  return all.length > 0 && !all.includes('self') ? { servedOnlyBy: all } : {};
}

const isForAll = ({ conditions, steps }: PolicyRule) =>
  conditions.length === 0 && steps.some(({ action }) => action.isTerminal && action.servedBy !== undefined);

/**
 * Runs the rules. When the request does not reach the upstream, the actions that wait for its outcome are called at
 * once.
 */
function runAndRelease(exchange: HttpExchange, run: PhaseRun): Verdict | Promise<Verdict> {
  const leave = (verdict: Verdict) => {
    if (verdict && verdict.kind !== 'forward') release(exchange, run, 'unasked');
    return verdict;
  };
  const fail = (error: unknown) => {
    release(exchange, run, 'unasked');
    throw error;
  };
  try {
    const verdict = run.start() as Verdict | Promise<Verdict>;
    return verdict instanceof Promise ? verdict.then(leave, fail) : leave(verdict);
  } catch (error) {
    return fail(error);
  }
}

function release(exchange: HttpExchange, run: PhaseRun, outcome: UpstreamOutcome): void {
  const { waiting } = run;
  run.waiting = undefined;
  for (const action of waiting ?? []) action.onOutcome?.(exchange, outcome);
}
