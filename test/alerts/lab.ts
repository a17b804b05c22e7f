// One gateway whose clock tests move, a real mail server, and a real receiver of webhooks.

import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import {
  createChannel,
  type Mail,
  type MailServer,
  openAlerts,
  type Receiver,
  startMailServer,
  startReceiver,
} from '../support/alerts.ts';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;

let aheadMs = 0;
let mailServer: MailServer;
export let gateway: TestGateway;
export let receiver: Receiver;
export let account: Account;

/** Each test has a receiver and an account of its own. */
export function useAlerts(overrides: Record<string, string> = {}): void {
  beforeAll(async () => {
    // Another file may have moved it in the same process.
    aheadMs = 0;
    mailServer = await startMailServer();
    gateway = await startTestGateway(
      {
        SMTP_URL: mailServer.url,
        SMTP_FROM: 'Gateway <gateway@example.com>',
        EVENT_WEBHOOK_HOSTS: '127.0.0.0/8',
        ...overrides,
      },
      { now: () => Date.now() + aheadMs, alertPauseMs: 100 },
    );
  });
  afterAll(async () => {
    await gateway.close();
    mailServer.close();
    receiver.close();
  });
  beforeEach(async () => {
    receiver?.close();
    receiver = await startReceiver();
    account = await gateway.newAccount();
  });
}

/** Rows of agents and events have the time of the database, which does not move: tests of short times come first. */
export function pass(ms: number): void {
  aheadMs += ms;
}

/** The clock of the gateway. */
export const now = () => Date.now() + aheadMs;

const isInvitation = ({ source }: Mail) => source.includes('Subject: Do you want alerts of the gateway?');

/** Without those that ask whether more may be sent. */
export const mailsTo = (address: string) =>
  mailServer.mails.filter((mail) => mail.to.includes(address) && !isInvitation(mail));

export const invitationsTo = (address: string) =>
  mailServer.mails.filter((mail) => mail.to.includes(address) && isInvitation(mail));

/** The link in the newest mail that asks, once it is there. */
export async function invitationOf(address: string): Promise<URL> {
  await expect.poll(() => invitationsTo(address).length).toBeGreaterThan(0);
  const { source = '' } = invitationsTo(address).at(-1) ?? {};
  const text = source.replace(/=\r\n/g, '').replace(/=3D/g, '=');
  return new URL(/http\S+confirm\?token=\S+/.exec(text)?.[0] ?? '');
}

/** Agrees to the newest mail that asks, as its recipient does. */
export async function agree(address: string): Promise<void> {
  const { origin, pathname, searchParams } = await invitationOf(address);
  const answer = await fetch(origin + pathname, { method: 'POST', body: searchParams });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining(`sent to ${address}`)]);
}

/** Waits for the only alert of the account until it is as a test expects. */
export async function alertThat(expected: object) {
  await expect.poll(() => openAlerts(account)).toMatchObject([expected]);
  return (await openAlerts(account))[0];
}

export const webhookChannel = () => createChannel(account, { name: 'hook', kind: 'WEBHOOK', url: receiver.url });
export const types = () => receiver.posts.map(({ body }) => body.type);
