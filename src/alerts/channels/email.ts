// Sends notifications by e-mail, through the operator's mail server.

import type { Transporter } from 'nodemailer';
import { toShortLine } from '../../events/sinks/sink.ts';
import { lazyPackage } from '../../runtime/lazy-package.ts';
import { DeliveryError, type DeliveryFailure } from '../delivery-error.ts';
import { mailTextOf, type NotificationBody } from '../notification.ts';
import type { AlertSettings } from '../settings.ts';

const nodemailer = lazyPackage<typeof import('nodemailer')>('nodemailer');
/** How long a connection to the mail server may take, and may stand still; milliseconds. */
const STALL_MS = 20_000;

/** The failure of every e-mail where the operator has set no mail server. */
export const NO_SMTP: DeliveryFailure = {
  code: 'NO_SMTP',
  message: 'this gateway sends no e-mail: its operator has not set SMTP_URL and SMTP_FROM',
};

/** The failure of an e-mail while no recipient has agreed. */
const UNCONFIRMED: DeliveryFailure = {
  code: 'UNCONFIRMED',
  message: 'no recipient has agreed to get alerts yet; each was sent a link',
};

/** What is said of failures in which the mail server had no say. Its host and its user are the operator's secrets. */
const texts: Record<string, string> = {
  EAUTH: 'the mail server does not take the user name and the password of SMTP_URL',
  ENOAUTH: 'the mail server wants a user name and a password in SMTP_URL',
  EDNS: 'the host of the mail server could not be looked up',
  ETLS: 'no TLS connection to the mail server came about',
  ETIMEDOUT: 'the mail server did not answer in time',
  ECONNREFUSED: 'the mail server refused the connection',
};

export interface Mailer {
  /**
   * Sends a notification to all recipients in one message. Its `Message-ID` is the same each time.
   * @returns which recipients the mail server refused, in one line; '' when it took all.
   * @throws {DeliveryError} when it took none.
   */
  send(recipients: readonly string[], body: NotificationBody, signal: AbortSignal): Promise<string>;
  /**
   * Asks a recipient whether alerts may be sent. @param url of the page to agree on. @throws {DeliveryError} when it was not taken.
   */
  invite(recipient: string, url: string): Promise<void>;
  close(): void;
}

/** @param smtp undefined: every message fails, and says why. */
export function openMailer(smtp: AlertSettings['smtp']): Mailer {
  let transport: Transporter | undefined;
  const send = async (messageFrom: (from: string) => object) => {
    if (!smtp) throw new DeliveryError(NO_SMTP);
    transport ??= nodemailer().createTransport({
      url: smtp.url,
      connectionTimeout: STALL_MS,
      greetingTimeout: STALL_MS,
      socketTimeout: STALL_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    return transport.sendMail(messageFrom(smtp.from)).catch((error) => {
      throw new DeliveryError(reasonOf(error));
    });
  };
  return {
    async send(recipients, body, signal) {
      if (smtp && recipients.length === 0) throw new DeliveryError(UNCONFIRMED);
      const { rejected = [] } = await send((from) => ({ ...messageOf(body, from, recipients), signal }));
      return rejected.length === 0 ? '' : toShortLine(`the mail server refused ${rejected.join(', ')}`);
    },
    async invite(recipient, url) {
      await send((from) => ({ from, to: [recipient], ...invitationTo(url) }));
    },
    close() {
      transport?.close();
    },
  };
}

/** The account that asks has no word in it, so that it can write to nobody. */
function invitationTo(url: string) {
  const text = [
    `An account of the gateway at ${new URL(url).origin} wants to send you alerts about its endpoints by e-mail.`,
    '',
    'To agree, open this page within 7 days:',
    url,
    '',
    'If you know nothing of it, do nothing: no alert is sent to you then.',
    '',
  ];
  return {
    subject: 'Do you want alerts of the gateway?',
    text: text.join('\n'),
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

function messageOf(body: NotificationBody, from: string, recipients: readonly string[]) {
  const { notification_id: id, alert, summary } = body;
  const domain = /@([\w.-]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
  const thread = `<${alert.id}@${domain}>`;
  return {
    from,
    to: [...recipients],
    subject: `[${alert.severity}] ${summary}`,
    text: mailTextOf(body),
    messageId: `<${id}@${domain}>`,
    // Mail programs show what is told of one alert together.
    references: thread,
    inReplyTo: thread,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Notification-Id': id },
  };
}

/** What the server said of recipients and message may be shown; all else could name the operator's host or user. */
function reasonOf(error: NodeJS.ErrnoException & { responseCode?: number; response?: string }): DeliveryFailure {
  const { code = 'Error', responseCode, response = '' } = error;
  if ((code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode !== undefined)
    return { code: `SMTP ${responseCode}`, message: toShortLine(`the mail server answered ${response}`) };
  return { code, message: texts[code] ?? 'the connection to the mail server failed' };
}
