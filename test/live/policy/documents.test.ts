// Policy documents on real visits: each does to a visitor what it says, and what `evaluatePolicy` says beforehand.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answering } from '../../policy/documents/answering.ts';
import { changing } from '../../policy/documents/changing.ts';
import { guarding } from '../../policy/documents/guarding.ts';
import { shaped } from '../../policy/documents/shapes.ts';
import { ORIGIN, textOf, type ValidDocument } from '../../policy/documents/support.ts';
import type { Visit } from '../../support/visit.ts';
import { described, type PolicyLab, type Seen, type SeenRequest, startPolicyLab, visitOverHttp2 } from './lab.ts';

let lab: PolicyLab;
beforeAll(async () => {
  lab = await startPolicyLab();
});
afterAll(() => lab?.close());
beforeEach(() => {
  lab.upstream.origin = {};
  lab.upstream.asked = [];
});

const HOST = 'documents.tunnel.localhost';

interface Field {
  name: string;
  value: string;
}

const EVALUATION = /* GraphQL */ `
  query ($policy: String!, $request: PolicyRequestInput!, $response: PolicyResponseInput) {
    evaluatePolicy(policy: $policy, request: $request, response: $response) {
      problems { path message errorCode }
      outcome {
        kind
        request { method url headers { name value } internal }
        response { status headers { name value } body error }
      }
    }
  }
`;

const asAnswer = ({ status, headers, body }: Visit) => ({ status, body, headers: comparable(Object.entries(headers)) });
const asRequest = ({ method, target, headers, body }: SeenRequest) => ({
  ...{ method, target, body },
  headers: comparable(Object.entries(headers)),
});

async function evaluated({ policy, request = {}, origin }: ValidDocument) {
  const { target = '/', headers = {}, ...rest } = request;
  const answer = { ...ORIGIN, ...origin };
  const { body, text } = await lab.account.graphql(EVALUATION, {
    policy: textOf(policy),
    request: { ...rest, url: `https://${HOST}${target}`, headers: fieldsOf(headers), clientIp: '127.0.0.1' },
    response: { ...answer, headers: fieldsOf(answer.headers) },
  });
  expect(body?.data?.evaluatePolicy?.problems, text).toEqual([]);
  return body.data.evaluatePolicy.outcome;
}

const fieldsOf = (headers: Record<string, string>): Field[] =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));

/** Fields of which a trial run cannot know: of the hop, of the visitor, and of the answer's own making. */
const OF_THE_VISIT =
  /^(?:connection|keep-alive|date|content-length|transfer-encoding|x-forwarded-.*|service-operation-id|traceresponse)$/;

function comparable(fields: Iterable<[string, unknown]>): Record<string, string> {
  const all: Record<string, string> = {};
  for (const [name, value] of fields) {
    const lower = name.toLowerCase();
    if (!OF_THE_VISIT.test(lower)) all[lower] = lower in all ? `${all[lower]}, ${value}` : String(value);
  }
  return all;
}

const pairs = (fields: Field[]) => fields.map(({ name, value }): [string, string] => [name, value]);

/** By HTTP/1 first, then by HTTP/2. */
async function visited({ policy, request = {}, origin = {} }: ValidDocument): Promise<[Seen, Seen]> {
  lab.upstream.origin = origin;
  const tunnel = await lab.tunnel('https', HOST, policy);
  try {
    const url = `https://${HOST}/`;
    const seen = await lab.visit(url, described(request));
    return [seen, await visitOverHttp2(lab.gateway, url, described(request))];
  } finally {
    await tunnel.close();
  }
}

const documents = [...shaped, ...guarding, ...changing, ...answering].map(
  (document) => [document.name, document] as const,
);

describe('on a real visit,', () => {
  test.each(documents)('%s', async (_, document) => {
    const { status, headers = {}, without = [], body, upstream = {} } = document.expected;
    const [seen, overHttp2] = await visited(document);
    expect(seen?.status).toBe(status);
    for (const [name, value] of Object.entries(headers))
      expect(seen?.headers).toHaveProperty([name], value.replace('{host}', HOST));
    for (const name of without) expect(seen?.headers).not.toHaveProperty([name]);
    if (body !== undefined) expect(seen?.body ?? '').toBe(body);

    const { asked } = lab.upstream;
    if (upstream === null) expect(asked).toEqual([]);
    else {
      expect(asked.length).toBe(2);
      expect(asked[0]?.target).toBe(upstream.target ?? document.request?.target ?? '/');
      expect(asked[0]?.headers).toMatchObject(upstream.headers ?? {});
      for (const name of upstream.without ?? []) expect(asked[0]?.headers).not.toHaveProperty([name]);
    }

    expect(overHttp2 && asAnswer(overHttp2)).toEqual(seen && asAnswer(seen));
    expect(asked[1] && asRequest(asked[1])).toEqual(asked[0] && asRequest(asked[0]));

    const outcome = await evaluated(document);
    // In a trial run, all internal endpoints are online.
    if (outcome.request?.internal) return expect(outcome.request.internal).toBe('https://nowhere.internal');
    const [request] = asked;
    expect(outcome.request === null ? null : comparable(pairs(outcome.request.headers))).toEqual(
      request ? comparable(Object.entries(request.headers)) : null,
    );
    expect(outcome.request?.url.replace(/^https:\/\/[^/]+/, '')).toBe(request?.target);
    expect(outcome.response?.status).toBe(seen?.status);
    if (!seen) return expect(outcome.kind).toBe('CLOSED');
    expect(comparable(pairs(outcome.response.headers))).toEqual(comparable(Object.entries(seen.headers)));
    expect(outcome.response.error).toBe(seen.headers['gateway-error-code'] ?? null);
  });
});
