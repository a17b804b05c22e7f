// The action `http-request`: asks another server or an internal endpoint, for a decision or for what it knows of a visitor.

import { withDeadline } from '../../http/deadline.ts';
import type { HttpExchange } from '../../http/exchange.ts';
import { HeaderList } from '../../http/header-list.ts';
import { countLoops, GATEWAY_TOKEN, LOOP_FIELD, LOOPS_MAX } from '../../http/loop-field.ts';
import { OutboundFailed, type OutboundRequest } from '../../http/outbound.ts';
import { makeAttempts } from '../calls/attempts.ts';
import { callResult, RETRY_VOCABULARY, retryBindings, unsentResult } from '../calls/call-results.ts';
import { callUrlProblem, internalNameOf, URL_MAX } from '../calls/call-url.ts';
import { isTrialOnly, sendCall } from '../calls/internal-endpoints.ts';
import { sendFollowing } from '../calls/redirects.ts';
import type { CelCondition } from '../cel/expression.ts';
import type { Template } from '../cel/template.ts';
import type { Bindings } from '../cel/vocabulary.ts';
import type { ActionKind, ActionVerdict, ConfigReader } from '../settings/action-kind.ts';
import { HEADER_VALUE_MAX } from '../settings/headers.ts';
import { PROBLEM } from '../settings/problems.ts';
import { readCondition } from '../settings/read-condition.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const WITHOUT_BODY: readonly string[] = ['GET', 'OPTIONS'];
const PARAMETERS_MAX = 32;
const KEY_MAX = 128;
const HEADERS_MAX = 10;
const BODY_MAX = 64 * 1024;
const REDIRECTS = { min: 0, max: 100, default: 10 };
const TIMEOUT = { min: 1000, max: 30_000, default: 3000 };

export const httpRequestAction: ActionKind = {
  type: 'http-request',
  phases: ['on_http_request', 'on_http_response'],
  members: [
    ...['url', 'method', 'query_params', 'headers', 'body'],
    ...['max_redirects', 'timeout', 'retry_condition', 'on_error'],
  ],
  result: 'http_request',
  compile(config) {
    const settings = readSettings(config);
    const { environment, owner } = config;
    const leadsTo = readTarget(config, settings.url.constant);
    const halts = config.choice('on_error', ['continue', 'halt'], 'continue') === 'halt';
    return {
      isTerminal: false,
      asksServers: true,
      ...(leadsTo && { leadsTo }),
      async run({ exchange, bindings, result }): Promise<ActionVerdict> {
        if (!exchange) return undefined;
        const request = requestOf(settings, exchange, bindings);
        if (typeof request === 'string') return { kind: 'refuse', error: 'policyFailed', reason: request };
        if (isTrialOnly(request, environment)) return void result('http_request', unsentResult(request));
        const attempts = await withDeadline(settings.timeoutMs, exchange.signal, (signal) => {
          const caller = { environment, owner, visitor: exchange.visitor, signal };
          const send = (hop: OutboundRequest) => sendCall(hop, caller);
          return makeAttempts({
            send: async () => {
              if (countLoops(exchange.request.fields.all(LOOP_FIELD)) >= LOOPS_MAX)
                throw new OutboundFailed('policies ask one another in a circle');
              return sendFollowing(request, settings.redirectsMax, send);
            },
            isRetried: (last, count) => settings.retry?.test(retryBindings(request, last, count)) ?? false,
            signal,
            now: environment.now,
          });
        });
        if (exchange.signal.aborted) return { kind: 'close', reason: 'the visitor has gone' };
        result('http_request', callResult(request, attempts));
        const { failure } = attempts.at(-1) ?? attempts[0];
        return failure && halts ? { kind: 'refuse', error: failure.error, reason: failure.message } : undefined;
      },
    };
  },
};

interface Settings {
  url: Template;
  method: string;
  parameters: { key: string; value: Template }[];
  headers: { name: string; value: Template }[];
  body: Template | undefined;
  redirectsMax: number;
  timeoutMs: number;
  retry: CelCondition | undefined;
}

function readSettings(config: ConfigReader): Settings {
  const url = config.template('url', { max: URL_MAX });
  const problem = url.constant && callUrlProblem(url.constant, config.environment.policyHosts);
  if (problem) config.problem('url', PROBLEM.url, problem);
  const method = config.choice('method', METHODS, 'GET');
  const body = config.has('body') ? config.template('body', { max: BODY_MAX, default: '' }) : undefined;
  if (body && WITHOUT_BODY.includes(method))
    config.problem('body', PROBLEM.field, `must not be there: a request of ${method} has no body`);
  const headers = config.headers('headers', { min: 0, max: HEADERS_MAX });
  for (const { name } of headers)
    if (/^(?:host|cdn-loop)$/i.test(name))
      config.problem(`headers.${name}`, PROBLEM.reserved, 'is set by the gateway itself: the URL says who is asked');
  const retry = readCondition(config, 'retry_condition', RETRY_VOCABULARY);
  return {
    ...{ url, method, headers, body, retry, parameters: readParameters(config) },
    redirectsMax: config.integer('max_redirects', REDIRECTS),
    timeoutMs: config.duration('timeout', TIMEOUT),
  };
}

/** The internal endpoint that the URL names; undefined where it names none, or is computed. */
function readTarget(config: ConfigReader, url: string | undefined): string | undefined {
  const name = url && URL.canParse(url) ? internalNameOf(new URL(url)) : undefined;
  if (name !== undefined && config.owner.mayReach?.(name) === false)
    config.problem(
      'url',
      PROBLEM.forwardDenied,
      `names ${name}, and the ACL of the credential has no rule "bind:${name}", nor another that allows it: add one, or ask a name that is allowed`,
    );
  return name;
}

function readParameters(config: ConfigReader): Settings['parameters'] {
  return config.list('query_params', { min: 0, max: PARAMETERS_MAX }).map((entry) => ({
    key: entry.text('key', { max: KEY_MAX }),
    value: entry.template('value', { max: HEADER_VALUE_MAX, default: '' }),
  }));
}

/** The request for a visitor; or the reason, as a text, why there is none. */
function requestOf(settings: Settings, exchange: HttpExchange, bindings: Bindings): OutboundRequest | string {
  const text = settings.url.evaluate(bindings);
  if (!URL.canParse(text)) return 'the computed url is not a URL';
  const url = new URL(text);
  url.hash = '';
  for (const { key, value } of settings.parameters) url.searchParams.append(key, value.evaluate(bindings));
  const fields = new HeaderList(gatewayFields(exchange));
  for (const { name, value } of settings.headers) {
    const computed = value.evaluate(bindings);
    if (Buffer.byteLength(computed) > HEADER_VALUE_MAX)
      return `the value of ${name} has more than ${HEADER_VALUE_MAX} bytes`;
    fields.set(name.toLowerCase(), computed);
  }
  const body = settings.body && Buffer.from(settings.body.evaluate(bindings));
  return { method: settings.method, url, fields: fields.list, body };
}

/** What the gateway says of itself and of the visitor. Nothing of the visitor's own request is in it. */
function gatewayFields(exchange: HttpExchange): [name: string, value: string][] {
  const before = exchange.request.fields.all(LOOP_FIELD);
  return [
    ['accept', '*/*'],
    ['accept-encoding', 'gzip, deflate, br'],
    ['user-agent', GATEWAY_TOKEN],
    ['x-forwarded-for', exchange.visitor.ip],
    ['service-operation-id', exchange.operationId],
    [LOOP_FIELD, [...before, GATEWAY_TOKEN].join(', ')],
  ];
}
