// A browser with the dashboard open: its cookies, the headers that it adds by itself, operations by their digest.

import { createHash } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { Agent, type OutgoingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { hash } from '@node-rs/argon2';
import { inject } from 'vitest';
import { type Owner, startTestGateway, type TestGateway, type TestOptions } from '../support/gateway/gateway.ts';
import { type Answer, send } from '../support/gateway/http.ts';
import { openStream, type Subscription } from '../support/gateway/sse.ts';

const viewer = '{ user { id __typename } isAdmin hasPassword session { id ip userAgent isThis expiresAt } }';
const begun = viewer.replace(/}$/, 'pageSecret }');

/** What these tests have the dashboard ask. */
export const operations = {
  viewer: `query { viewer ${viewer} }`,
  offer: 'query { signInOffer { isOffered reason isSetUp singleSignOn isPasswordForAll } }',
  beginSso: 'mutation { beginSingleSignOn { attempt { url attempt } } }',
  completeSso: `mutation ($input: CompleteSingleSignOnInput!) { completeSingleSignOn(input: $input) { viewer ${begun} } }`,
  signIn: `mutation ($input: SignInInput!) { signIn(input: $input) { viewer ${begun} } }`,
  redeem: `mutation ($input: RedeemSignInLinkInput!) { redeemSignInLink(input: $input) { viewer ${begun} } }`,
  signOut: 'mutation { signOut { wasSignedIn } }',
  linkUser: 'query ($token: String!) { signInLinkUser(token: $token) { email } }',
  endSession: 'mutation ($id: ID!) { endBrowserSession(id: $id) { endedBrowserSessionId } }',
  signOutEverywhere: 'mutation ($userId: ID) { signOutEverywhere(userId: $userId) { endedSessions } }',
  secondFactor: 'query { viewer { hasSecondFactor recoveryCodesLeft } }',
  beginSecondFactor:
    'mutation ($password: String!) { beginSecondFactor(password: $password) { secret { secret url } } }',
  confirmSecondFactor: 'mutation ($code: String!) { confirmSecondFactor(code: $code) { recoveryCodes } }',
  disableSecondFactor: `mutation ($input: DisableSecondFactorInput!) { disableSecondFactor(input: $input) { viewer { isAdmin } } }`,
  replaceRecoveryCodes:
    'mutation ($input: ReplaceRecoveryCodesInput!) { replaceRecoveryCodes(input: $input) { recoveryCodes } }',
  removeSecondFactor: 'mutation ($userId: ID!) { removeSecondFactor(userId: $userId) { wasOn } }',
  passkeys: 'query { passkeys { id name createdAt lastUsedAt } }',
  beginPasskey: 'mutation ($input: PasskeyProofInput!) { beginPasskey(input: $input) { options } }',
  addPasskey: 'mutation ($input: AddPasskeyInput!) { addPasskey(input: $input) { passkey { id name lastUsedAt } } }',
  removePasskey:
    'mutation ($id: ID!, $input: PasskeyProofInput!) { removePasskey(id: $id, input: $input) { removedPasskeyId } }',
  beginPasskeySignIn: 'mutation { beginPasskeySignIn { options } }',
  completePasskeySignIn: `mutation ($credential: Json!) { completePasskeySignIn(credential: $credential) { viewer ${begun} } }`,
  changePassword: `mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { viewer ${begun} } }`,
  sessions: 'query ($userId: ID) { browserSessions(userId: $userId) { id isThis createdAt lastUsedAt expiresAt } }',
  createLink: 'mutation ($userId: ID!) { createSignInLink(userId: $userId) { signInLink { url expiresAt } } }',
  credentials: 'query { credentials { totalCount } }',
  createCredential: 'mutation { createCredential(input: {}) { credential { id ownerId } } }',
  createBot: 'mutation ($input: CreateBotUserInput!) { createBotUser(input: $input) { botUser { id } } }',
  watch: 'subscription { credentialChanged { action } }',
};
export type OperationName = keyof typeof operations;

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');
export const documentId = (name: OperationName) => `sha256:${digestOf(operations[name])}`;

/** A gateway whose dashboard has these operations. */
export async function startWithDashboard(
  env: Record<string, string> = {},
  options: TestOptions = {},
): Promise<TestGateway> {
  const dashboard = await mkdtemp(join(inject('run'), 'dashboard-'));
  const texts = Object.fromEntries(Object.values(operations).map((text) => [digestOf(text), text]));
  await writeFile(join(dashboard, 'operations.json'), JSON.stringify(texts));
  return startTestGateway(env, { ...options, dashboard });
}

export const PASSWORD = 'correct horse battery staple';
/** A hash that is compared in no time. */
const quickHash = await hash(PASSWORD, { memoryCost: 8, timeCost: 1, parallelism: 1 });

export interface Browser {
  /** The value of its session cookie; undefined when it has none. */
  cookie: string | undefined;
  /** The value of the cookie with the challenge for a passkey; undefined when it has none. */
  passkeyCookie: string | undefined;
  /** What the page of the dashboard keeps; undefined when it has nothing. */
  secret: string | undefined;
  /** On top of what a browser sends by itself; undefined leaves one out. */
  headers: OutgoingHttpHeaders;
  /** By which it connects. */
  agent: Agent;
  /** Runs an operation. */
  ask(name: OperationName, variables?: object): Promise<Answer>;
  /** Sends anything to `/graphql`. */
  post(body: unknown): Promise<Answer>;
  send(method: string, path: string, body?: string): Promise<Answer>;
  watch(): Promise<Subscription>;
  signIn(email: string, password?: string, code?: string): Promise<Answer>;
  redeem(token: string, password?: string, code?: string): Promise<Answer>;
}

const agent = new Agent({ keepAlive: true });

export function newBrowser(api: string): Browser {
  const all = (): OutgoingHttpHeaders => ({
    'content-type': 'application/json',
    'gateway-dashboard': browser.secret ?? '1',
    'sec-fetch-site': 'same-origin',
    origin: new URL(api).origin,
    'user-agent': 'a browser of these tests',
    ...cookiesOf(browser),
    ...browser.headers,
  });
  const browser: Browser = {
    cookie: undefined,
    passkeyCookie: undefined,
    secret: undefined,
    headers: {},
    agent,
    ask: (name, variables) => browser.post({ documentId: documentId(name), variables }),
    post: (body) => browser.send('POST', '/graphql', JSON.stringify(body)),
    async send(method, path, body) {
      const answer = await send(browser.agent, method, api + path, all(), body);
      const given = answer.headers['set-cookie'] ?? [];
      const value = cookieValue('__Host-gateway_session', given);
      const passkey = cookieValue('__Host-gateway_session.passkey', given);
      if (passkey !== undefined) browser.passkeyCookie = passkey || undefined;
      if (value !== undefined) browser.cookie = value || undefined;
      if (value === '') browser.secret = undefined;
      const payloads = Object.values(
        (answer.body?.data ?? {}) as Record<string, { viewer?: { pageSecret?: string } } | null>,
      );
      const begun = payloads.find((payload) => payload?.viewer)?.viewer;
      browser.secret = begun?.pageSecret ?? browser.secret;
      return answer;
    },
    watch: () => openStream(api, all(), { documentId: documentId('watch') }),
    signIn: (email, password = PASSWORD, code) => browser.ask('signIn', { input: { email, password, code } }),
    redeem: (token, password = PASSWORD, code) => browser.ask('redeem', { input: { token, password, code } }),
  };
  return browser;
}

function cookiesOf({ cookie, passkeyCookie }: Browser): { cookie?: string } {
  const pairs = [
    ...(cookie === undefined ? [] : [`__Host-gateway_session=${cookie}`]),
    ...(passkeyCookie === undefined ? [] : [`__Host-gateway_session.passkey=${passkeyCookie}`]),
  ];
  return pairs.length === 0 ? {} : { cookie: ['theme=dark', ...pairs].join('; ') };
}

/** What an answer sets a cookie to; '' takes it away, and undefined leaves it. */
function cookieValue(name: string, given: readonly string[]): string | undefined {
  return given
    .find((one) => one.startsWith(`${name}=`))
    ?.slice(name.length + 1)
    .replace(/;.*/s, '');
}

/** A browser in which a user is signed in, who has `PASSWORD` then. @param by an admin's key. */
export async function signedIn(gateway: TestGateway, by: string, userId: string, api = gateway.api): Promise<Browser> {
  const browser = newBrowser(api);
  const answer = await browser.redeem(await linkFor(gateway, by, userId));
  if (answer.body.errors) throw new Error(JSON.stringify(answer.body.errors));
  await gateway.app.prisma.password.update({ where: { ownerId: userId }, data: { hash: quickHash } });
  return browser;
}

/** Another browser of a user who has `PASSWORD`. */
export async function signedInAgain(gateway: TestGateway, { ownerId }: Pick<Owner, 'ownerId'>): Promise<Browser> {
  const subject = `${ownerId}@example.com`.toLowerCase();
  await gateway.app.prisma.owner.update({ where: { id: ownerId }, data: { subject } });
  const browser = newBrowser(gateway.api);
  const answer = await browser.signIn(subject);
  if (answer.body.errors) throw new Error(JSON.stringify(answer.body.errors));
  return browser;
}

export const isSignedIn = async (browser: Browser) => (await browser.ask('viewer')).body.data.viewer !== null;
export const sessionsOf = async (browser: Browser, userId?: string) =>
  (await browser.ask('sessions', { userId })).body.data.browserSessions;

/** The token of a new link for a user. */
export async function linkFor(gateway: TestGateway, by: string, userId: string): Promise<string> {
  const { body } = await gateway.graphql(operations.createLink, { userId }, { key: by });
  if (body.errors) throw new Error(JSON.stringify(body.errors));
  return new URL(body.data.createSignInLink.signInLink.url).hash.slice(1);
}

/** The code and number of the only error of an answer. */
export const refusal = ({ body }: Answer) =>
  body.errors?.map(({ extensions: { code, errorCode } }: Shown) => `${code} ${errorCode}`).join();

interface Shown {
  extensions: { code: string; errorCode: string };
}
