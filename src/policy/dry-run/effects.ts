// Describes the effects of an action in words, by comparing the exchange before and after it.

import type { HttpExchange } from '../../http/exchange.ts';
import type { HeaderList } from '../../http/header-list.ts';
import { visitorErrors } from '../../http/visitor-errors.ts';
import { toJsonValue } from '../run/json-value.ts';
import type { PhaseRun } from '../run/phase-run.ts';
import type { ActionVerdict } from '../settings/action-kind.ts';
import { urlAsSent } from '../settings/url-change.ts';

type Fields = HeaderList['list'];

/** The parts of an exchange that an action may change. */
export interface ExchangeSnapshot {
  url: string;
  request: Fields;
  response: Fields;
  encoding: string | undefined;
  vars: ReadonlyMap<string, unknown>;
}

/** Copies these parts before an action. */
export function takeSnapshot({ exchange, vars }: PhaseRun): ExchangeSnapshot {
  return {
    url: exchange ? urlAsSent(exchange.request) : '',
    request: [...(exchange?.request.fields.list ?? [])],
    response: [...(exchange?.response?.fields.list ?? [])],
    encoding: exchange?.response?.encoding,
    vars: new Map(vars),
  };
}

/** Describes an action. @returns a line for each change, and one for the outcome. */
export function describeEffects(was: ExchangeSnapshot, { exchange, vars }: PhaseRun, verdict: ActionVerdict): string[] {
  const lines: string[] = [];
  for (const [name, value] of vars)
    if (was.vars.get(name) !== value) lines.push(`sets vars.${name} to ${JSON.stringify(toJsonValue(value))}`);
  if (exchange) lines.push(...changes(was, exchange));
  lines.push(...ends(verdict));
  return lines.length > 0 ? lines : ['changes nothing'];
}

function changes(was: ExchangeSnapshot, { request, response }: HttpExchange): string[] {
  const lines = [...fieldChanges(was.request, request.fields.list, 'the request')];
  const url = urlAsSent(request);
  if (url !== was.url) lines.push(`changes the URL to ${url}`);
  if (response) {
    lines.push(...fieldChanges(was.response, response.fields.list, 'the answer'));
    if (response.encoding !== was.encoding) lines.push(`encodes the body as ${response.encoding}`);
  }
  return lines;
}

function* fieldChanges(was: Fields, is: Fields, of: string): Generator<string> {
  for (const [name, value] of was.filter((field) => !is.includes(field))) yield `takes ${name}: ${value} out of ${of}`;
  for (const [name, value] of is.filter((field) => !was.includes(field))) yield `adds ${name}: ${value} to ${of}`;
}

function ends(verdict: ActionVerdict): string[] {
  switch (verdict?.kind) {
    case undefined:
      return [];
    case 'answer':
      return [`answers with ${verdict.status}`];
    case 'refuse':
      return [`turns the visitor away with ${visitorErrors[verdict.error].status}: ${verdict.reason}`];
    case 'close':
      return ['closes the connection'];
    case 'forward':
      return [`sends the visitor on to ${verdict.endpoint.publicUrl}`];
  }
}
