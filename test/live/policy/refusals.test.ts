// Bad policies never reach traffic: binds and uploads are refused, with the number and the place of what is wrong.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { badSettings } from '../../policy/documents/bad-settings.ts';
import { badShapes } from '../../policy/documents/bad-shapes.ts';
import { badTexts } from '../../policy/documents/bad-texts.ts';
import { type InvalidDocument, textOf } from '../../policy/documents/support.ts';
import { newRoute, type PolicyLab, startPolicyLab } from './lab.ts';

const HOST = 'refusals.tunnel.localhost';
const EDGE = 'refusals-edge.tunnel.localhost';

let lab: PolicyLab;
let route: string;
beforeAll(async () => {
  lab = await startPolicyLab();
  route = await newRoute(lab, EDGE);
});
afterAll(() => lab?.close());

const documents = [...badShapes, ...badTexts, ...badSettings].map((document) => [document.name, document] as const);

/** The most that a call of the API may hold, in bytes. */
const CALL_MAX = 65_536;

/** What the gateway says of it, in one text. */
const told = ({ problem: [path, , message] }: InvalidDocument) =>
  new RegExp(`${(path || 'the document').replace(/[[\].]/g, '\\$&')} .*${message.source}`, 's');

const EVALUATION = `query ($policy: String!, $proto: EndpointProto) {
  evaluatePolicy(policy: $policy, proto: $proto, request: { url: "https://a.example.com/" }) {
    problems { path message errorCode }
    rules { index }
    outcome { kind }
  }
}`;

describe('neither a tunnel nor a route may have', () => {
  test.each(documents)('%s', async (_, document) => {
    const { policy, proto = 'https', problem } = document;
    const [path, number, message] = problem;
    const code = `ERR_GATEWAY_${number}`;
    // A tunnel with an empty policy is one without.
    if (policy !== '') {
      const domain = proto === 'https' ? HOST : null;
      const refusal = await lab.tunnel(proto, domain, policy).catch((error) => error);
      expect(refusal).toMatchObject({ code, message: expect.stringMatching(told(document)) });
    }
    const value = textOf(policy);
    if (proto === 'https') {
      const { status, body, text } = await lab.account.call('PUT', `${route}/traffic_policy`, { value });
      if (value.length > CALL_MAX) return expect([status, body.error_code]).toEqual([413, 'ERR_GATEWAY_90004']);
      expect([status, body.error_code], text).toEqual([400, code]);
      expect(body.msg).toMatch(told(document));
    }
    const { body, text } = await lab.account.graphql(EVALUATION, { policy: value, proto: proto.toUpperCase() });
    expect(body.data?.evaluatePolicy, text).toMatchObject({ rules: [], outcome: null });
    expect(body.data.evaluatePolicy.problems[0]).toEqual({
      path,
      message: expect.stringMatching(message),
      errorCode: code,
    });
  });
});

test('nothing that was refused is kept: the route has no policy, and the name no tunnel', async () => {
  expect((await lab.account.call('GET', route)).body.traffic_policy).toBeFalsy();
  expect(await lab.visit(`https://${HOST}/`)).toMatchObject({ status: 404 });
});

test('an upload that is refused leaves the policy as it was', async () => {
  const good = { value: '{"on_http_request":[{"actions":[{"type":"deny","config":{"status_code":418}}]}]}' };
  expect((await lab.account.call('PUT', `${route}/traffic_policy`, good)).status).toBe(200);
  expect((await lab.account.call('PUT', `${route}/traffic_policy`, { value: '{' })).status).toBe(400);
  expect(await lab.visit(`https://${EDGE}/`)).toMatchObject({ status: 418 });
  expect((await lab.account.call('DELETE', `${route}/traffic_policy`)).status).toBe(204);
  expect(await lab.visit(`https://${EDGE}/`)).toMatchObject({ status: 502 });
});

test('rules for connections are not for a route, and it is said what is', async () => {
  const value = '{"on_tcp_connect":[{"actions":[{"type":"deny"}]}]}';
  const { status, body } = await lab.account.call('PUT', `${route}/traffic_policy`, { value });
  expect([status, body.error_code]).toEqual([400, 'ERR_GATEWAY_2248']);
  expect(body.msg).toMatch(/use on_http_request/);
});
