// Webhooks of Amazon SNS at a whole gateway: by the module of a route, by a policy, by the option of a tunnel, in a trial.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { action, onRequest } from '../../policy/documents/support.ts';
import {
  CERTIFICATE_URL,
  type CertificateHost,
  confirmation,
  type Fields,
  newSigner,
  notification,
  type SignedBy,
  startCertificateHost,
  TOPIC,
} from '../../policy/webhooks/sns-sender.ts';
import { newCredential } from '../../support/agents/live.ts';
import { codeOf, rawAgent } from '../../support/agents/raw-agent.ts';
import { httpName, openSdkSession } from '../../support/agents/sdk.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { inDays } from '../../support/issuer.ts';
import { type Visit, visit } from '../../support/visit.ts';
import { errorOf } from '../edges/support.ts';
import { newRoute, type PolicyLab, startPolicyLab } from '../policy/lab.ts';

const EDGE = 'sns.example.com';

let signer: SignedBy;
let host: CertificateHost;
let gateway: TestGateway;
let lab: PolicyLab;
let route: string;
beforeAll(async () => {
  signer = await newSigner({ notBefore: inDays(-1), notAfter: inDays(1) });
  host = await startCertificateHost(signer.pem);
  gateway = await startTestGateway({}, { signerHosts: host.standIn });
  lab = await startPolicyLab(gateway);
  route = await newRoute(lab, EDGE, { app: 'sns' });
  await lab.labelled({ app: 'sns' });
});
afterAll(async () => {
  await lab?.close();
  await gateway?.close();
  host?.close();
});

const now = () => ({ Timestamp: new Date().toISOString() });
const signed = (more: Fields = {}, url?: string) => signer.sign(notification({ ...now(), ...more }), '2', url);
const post = (fields: Fields, url = `https://${EDGE}/`, headers: Record<string, string> = {}) =>
  lab.visit(url, { method: 'POST', body: JSON.stringify(fields), headers }) as Promise<Visit>;
const fate = async (...sent: Parameters<typeof post>) => {
  const answer = await post(...sent);
  return errorOf(answer) ?? answer.status;
};
const put = async (module: string, body: object | null) => {
  const answer = await lab.account.call(body ? 'PUT' : 'DELETE', `${route}/${module}`, body ?? undefined);
  expect(answer.status, answer.text).toBe(body ? 200 : 204);
};

test('the module of a route lets in what is signed, and fetches the certificate once', async () => {
  await put('webhook_verification', { provider: 'sns' });
  const before = host.asked.length;
  const fields = signed();
  expect(await fate(fields)).toBe(200);
  expect(JSON.parse(lab.upstream.asked.at(-1)?.body ?? '')).toEqual(fields);
  expect(await fate(signer.sign(confirmation('SubscriptionConfirmation', now())))).toBe(200);
  expect(await fate({ ...fields, Message: 'another' })).toBe(3204);
  expect(await fate({})).toBe(3204);
  expect(host.asked.slice(before)).toEqual([CERTIFICATE_URL]);
  await put('webhook_verification', null);
});

test('while the certificate cannot be had the sender is told to try again, with a reason in the log', async () => {
  await put('webhook_verification', { provider: 'sns', secret: 'not looked at' });
  host.publish('', 500);
  const answer = await post(signed({}, CERTIFICATE_URL.replace('.pem', '-away.pem')));
  expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
  expect(errorOf(answer)).toBe(90380);
  expect(answer.body).toContain('The certificate for checking webhooks is not available right now.');
  const isOfIt = ({ reason }: Record<string, unknown>) => /the certificate cannot be had/.test(String(reason));
  expect(await gateway.logged(isOfIt)).toMatchObject({ reason: expect.stringMatching(/-away\.pem .*it answered 500/) });
  host.publish(signer.pem);
  await put('webhook_verification', null);
});

test('a policy needs no secret, and lets in the messages of one topic alone', async () => {
  const policy = onRequest([action('verify-webhook', { provider: 'sns' })]);
  const others = { expressions: [`getReqHeader('x-amz-sns-topic-arn') != ['${TOPIC}']`], actions: [action('deny')] };
  const rules = JSON.stringify({ ...policy, on_http_request: [...(policy.on_http_request ?? []), others] });
  await put('traffic_policy', { value: rules });
  const from = (topic: string) => ({ 'x-amz-sns-topic-arn': topic });
  expect(await fate(signed(), undefined, from(TOPIC))).toBe(200);
  expect(await fate(signed())).toBe(403);
  expect(await fate(signed({ TopicArn: `${TOPIC}2` }), undefined, from(`${TOPIC}2`))).toBe(403);
  expect(await fate(signed({ TopicArn: `${TOPIC}2` }), undefined, from(TOPIC))).toBe(3204);
  await put('traffic_policy', null);
});

test('a trial run of a policy checks the message, too', async () => {
  const query = `query ($policy: String!, $request: PolicyRequestInput!) {
    evaluatePolicy(policy: $policy, request: $request) { rules { actions { result } } outcome { kind } } }`;
  const policy = JSON.stringify(onRequest([action('verify-webhook', { provider: 'sns', enforce: false })]));
  const tried = async (fields: Fields) => {
    const request = { method: 'POST', url: `https://${EDGE}/`, body: JSON.stringify(fields) };
    const { body } = await lab.account.graphql(query, { policy, request });
    return body.data.evaluatePolicy.rules[0].actions[0].result;
  };
  expect(await tried(signed())).toEqual({ verified: true });
  expect(await tried({ ...signed(), Message: 'a' })).toMatchObject({ error: { code: 'ERR_GATEWAY_3204' } });
});

test.each([
  ['nothing', {}],
  ['null', { secret: null, sealed_secret: null }],
  ['an empty secret', { secret: '', sealed_secret: '' }],
  ['a secret', { secret: 'a secret' }],
  ['a sealed secret', { sealed_secret: 'eA==' }],
])('the option of a tunnel is taken with %s in the place of the secret', async (what, secret) => {
  const { authtoken } = await newCredential(lab.account);
  const agent = await rawAgent(gateway);
  await agent.auth(authtoken);
  const name = `${what.replaceAll(' ', '-')}.tunnel.localhost`;
  const options = { Hostname: name, WebhookVerification: { provider: 'sns', ...secret } };
  expect(codeOf(await agent.bind(name, { Opts: options }))).toBeUndefined();
  expect(await fate(signed(), `http://${name}/`)).toBe(200);
  expect(await fate({}, `http://${name}/`)).toBe(3204);
});

test('the option of the SDK is taken', async () => {
  const { authtoken } = await newCredential(lab.account);
  const sdk = await openSdkSession(gateway, authtoken);
  const name = 'sdk-sns.tunnel.localhost';
  const listener = httpName(sdk.session, name).webhookVerification('SNS', 'a secret');
  await listener.listenAndForward(`http://${lab.upstream.address}`);
  expect(await fate(signed(), `http://${name}/`)).toBe(200);
  expect(await fate({ ...signed(), Message: 'a' }, `http://${name}/`)).toBe(3204);
  await sdk.close();
});

test('where policies fetch from public addresses, a private one is not asked', async () => {
  const strict = await startTestGateway({ POLICY_FETCH: 'public' }, { signerHosts: host.standIn });
  const { authtoken } = await newCredential(await strict.newAccount());
  const agent = await rawAgent(strict);
  await agent.auth(authtoken);
  const name = 'strict.tunnel.localhost';
  await agent.bind(name, { Opts: { Hostname: name, WebhookVerification: { provider: 'sns' } } });
  const { connections } = host;
  const answer = await visit(`http://${name}/`, strict.http, { method: 'POST', body: JSON.stringify(signed()) });
  expect(errorOf(answer)).toBe(90380);
  expect(host.connections).toBe(connections);
  await strict.close();
});
