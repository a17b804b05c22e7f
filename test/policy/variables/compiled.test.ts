// The variables as policies meet them: through the compiler, which knows the functions that see them.

import { expect, test } from 'vitest';
import { compileExpression } from '../../../src/policy/cel/expression.ts';
import { bindingsOf } from '../../../src/policy/cel/variables/bindings.ts';
import { vocabularyOf } from '../../../src/policy/cel/variables/phase-vocabulary.ts';
import type { PolicyPhase } from '../../../src/policy/cel/vocabulary.ts';
import { type ExchangeShape, environmentOf, exchangeOf } from '../exchange-support.ts';
import { newState } from './support.ts';

const VISIT: ExchangeShape = {
  target: '/a?b=c',
  fields: { Cookie: 'a=1; b=2', 'Content-Type': 'text/html; charset=utf-8', 'User-Agent': 'curl/8.4.0' },
  body: 'x',
  status: 200,
  answerFields: { 'Set-Cookie': 'a=1; Max-Age=60', 'Content-Type': 'text/css' },
};

function evaluate(text: string, phase: PolicyPhase): unknown {
  const bindings = bindingsOf({ exchange: exchangeOf(VISIT) }, phase, newState(), environmentOf());
  return compileExpression(text, vocabularyOf(phase, 'https')).evaluate(bindings);
}

test.each([
  "hasReqHeader('USER-AGENT') && getReqHeader('user-agent')[0].startsWith('curl')",
  "getReqCookie('b').value == '2' && !hasReqCookie('c')",
  "getQueryParam('b') == ['c'] && hasQueryParam('b')",
  "getResHeader('content-type')[0] == 'text/css' && hasResHeader('set-cookie')",
  "getResCookie('a').max_age == duration('60s') && hasResCookie('a')",
  "has(req.headers['cookie']) && !has(req.headers.none)",
  "req.cookies['a'][0].value == '1' && req.content_type.parameters.charset == 'utf-8'",
  "timestamp(time.now) - conn.ts.start < duration('1s')",
  "res.status_code >= 200 && res.StatusCode == '200' && req.ContentLength == 1",
])('%s', (text) => {
  expect(evaluate(text, 'on_http_response')).toBe(true);
});

test.each<[string, PolicyPhase, string]>([
  ['conn.client_ip.is_tor_node', 'on_tcp_connect', 'needs lists of known addresses'],
  ['res.status_code == 200', 'on_http_request', 'in on_http_response'],
  ["hasResHeader('x')", 'on_http_request', 'in on_http_response'],
  ["req.method == 'GET'", 'on_tcp_connect', 'in on_http_request and on_http_response'],
  ["'x' in req.trailers", 'on_http_request', 'policies see heads only'],
])('%s is refused in %s, as it %s', (text, phase, reason) => {
  expect(() => evaluate(text, phase)).toThrow(reason);
});
