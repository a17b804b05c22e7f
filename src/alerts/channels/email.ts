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
  close(): void;
}

/** @param smtp undefined: every message fails, and says why. */
export function openMailer(smtp: AlertSettings['smtp']): Mailer {
  let transport: Transporter | undefined;
  return {
    async send(recipients, body, signal) {
      if (!smtp) throw new DeliveryError(NO_SMTP);
      transport ??= nodemailer().createTransport({
        url: smtp.url,
        connectionTimeout: STALL_MS,
        greetingTimeout: STALL_MS,
        socketTimeout: STALL_MS,
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      const { rejected = [] } = await transport
        .sendMail({ ...messageOf(body, smtp.from, recipients), signal })
        .catch((error) => {
          throw new DeliveryError(reasonOf(error));
        });
      return rejected.length === 0 ? '' : toShortLine(`the mail server refused ${rejected.join(', ')}`);
    },
    close() {
      transport?.close();
    },
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
