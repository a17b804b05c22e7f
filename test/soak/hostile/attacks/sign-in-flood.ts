// Strangers at the sign-in: wrong passwords for an e-mail address that they know and for others, and cookies, of a session
// that is under way and made up, without the secret of the page.

import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Attack, Counts, Target } from '../attack.ts';

/** Requests a second: each wrong password that is looked at takes a processor for tens of milliseconds. */
const RATE = 4;
const CONNECTIONS = 4;
const ANSWER_MS = 30_000;
const KNOWN = 'admin@localhost';

const SIGN_IN = 'mutation ($input: SignInInput!) { signIn(input: $input) { viewer { isAdmin pageSecret } } }';
const STEAL = 'mutation { createApiKey(input: {}) { token } }';
const WHO = '{ viewer { user { id } } }';
const LINK = 'mutation ($id: ID!) { createSignInLink(userId: $id) { signInLink { url } } }';
const REDEEM = 'mutation ($input: RedeemSignInLinkInput!) { redeemSignInLink(input: $input) { viewer { isAdmin } } }';

/** What a program sends that passes itself off as a page of the dashboard. */
const PAGE = { 'content-type': 'application/json', 'gateway-dashboard': '1', 'sec-fetch-site': 'same-origin' };

export const attack: Attack = {
  name: 'B5, B14 wrong passwords and stolen cookies at the sign-in',
  async run(target, signal) {
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const counts: Counts = { sent: 0, refused: 0, taken: 0, failed: 0 };
    const add = (name: string) => {
      counts[name] = (counts[name] ?? 0) + 1;
    };
    const stolen = await openSession(target, agent).catch(() => undefined);
    if (!stolen) counts.noSession = 1;
    const waiting = new Set<Promise<void>>();
    for (let n = 0; !signal.aborted; n++) {
      if (waiting.size < CONNECTIONS) {
        add('sent');
        const one = attempt(target, agent, n, stolen).then(
          (isTaken) => add(isTaken ? 'taken' : 'refused'),
          () => add('failed'),
        );
        waiting.add(one);
        void one.then(() => waiting.delete(one));
      }
      await pause(1000 / RATE, undefined, { signal }).catch(() => {});
    }
    agent.destroy();
    await Promise.all(waiting);
    return counts;
  },
};

/** @returns whether the gateway took it for somebody who is signed in. */
async function attempt(target: Target, agent: Agent, n: number, stolen = randomToken()): Promise<boolean> {
  if (n % 2 === 0) {
    const email = n % 4 === 0 ? KNOWN : `stranger-${n}@example.com`;
    const variables = { input: { email, password: `not the password ${n}` } };
    const { data } = await ask(target, agent, PAGE, { query: SIGN_IN, variables });
    return Boolean(data?.signIn?.viewer);
  }
  const cookie = `__Host-gateway_session=${n % 4 === 1 ? stolen : randomToken()}`;
  const secret = n % 8 < 4 ? '1' : randomToken();
  const headers = { ...PAGE, 'gateway-dashboard': secret, cookie };
  const { data } = await ask(target, agent, headers, { query: STEAL });
  return Boolean(data?.createApiKey?.token);
}

const randomToken = () => randomBytes(32).toString('base64url');

/** Begins a session of the tenant itself. @returns its cookie, as it would be stolen. */
async function openSession(target: Target, agent: Agent): Promise<string | undefined> {
  const withKey = { ...PAGE, authorization: `Bearer ${target.tenant.key}` };
  const { data: who } = await ask(target, agent, withKey, { query: WHO });
  const { data: made } = await ask(target, agent, withKey, { query: LINK, variables: { id: who?.viewer?.user.id } });
  const token = made?.createSignInLink?.signInLink.url.split('#')[1];
  const input = { token, password: `a password of the soak ${randomToken()}` };
  const { cookie } = await ask(target, agent, PAGE, { query: REDEEM, variables: { input } });
  return /__Host-gateway_session=([^;]+)/.exec(cookie ?? '')?.[1];
}

interface Answer {
  data?: {
    signIn?: { viewer: unknown };
    createApiKey?: { token: unknown };
    viewer?: { user: { id: string } };
    createSignInLink?: { signInLink: { url: string } };
  } | null;
  /** What was set. */
  cookie?: string | undefined;
}

function ask({ api }: Target, agent: Agent, headers: Record<string, string>, body: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', agent, headers, timeout: ANSWER_MS };
    const sent = request(`${api}/graphql`, options, async (response) => {
      try {
        let text = '';
        for await (const piece of response.setEncoding('utf8')) text += piece;
        resolve({ ...JSON.parse(text), cookie: response.headers['set-cookie']?.[0] });
      } catch (error) {
        reject(error as Error);
      }
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}
