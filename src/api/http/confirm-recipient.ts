// The page on which a recipient of alerts by e-mail agrees. Programs that look at mail open links: nothing is agreed to before the
// button is pressed.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { escapeHtml, htmlPage } from '../../http/html-page.ts';
import { describeFailure } from '../../runtime/describe-failure.ts';

/** The path at the API's listener. */
export const CONFIRM_PATH = '/alert_recipients/confirm';
const BODY_BYTES_MAX = 8 * 1024;

/** Answers a request for the page. */
export type ConfirmHandler = (request: IncomingMessage, response: ServerResponse) => void;

export interface Confirmations {
  log: Logger;
  /** The address that a token is for; undefined when it is none, or too old. */
  addressOf(token: string): string | undefined;
  /** Notes that the recipient has agreed. @returns whether alerts are still to be sent there. */
  confirm(token: string): Promise<boolean>;
}

export function confirmHandler(confirmations: Confirmations): ConfirmHandler {
  return (request, response) => {
    const show = (status: number, title: string, body: string) =>
      response
        .writeHead(status, {
          'Content-Type': 'text/html; charset=utf-8',
          'Cache-Control': 'no-store',
          'Referrer-Policy': 'no-referrer',
          'Content-Security-Policy':
            "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
        })
        .end(request.method === 'HEAD' ? undefined : htmlPage(title, body));
    const answer = async () => {
      const isPost = request.method === 'POST';
      const token = isPost ? await tokenIn(request) : tokenOf((request.url ?? '').replace(/^[^?]*\??/, ''));
      const address = confirmations.addressOf(token);
      if (address === undefined)
        return show(
          400,
          'This link is no longer valid',
          '<p>Ask who manages the alert channel to test it: you are sent another one.</p>',
        );
      if (!isPost) return show(200, 'Get alerts by e-mail?', formOf(address, token));
      if (await confirmations.confirm(token))
        return show(200, 'Thank you', `<p>Alerts are sent to ${escapeHtml(address)} from now on.</p>`);
      return show(410, 'Not wanted any more', '<p>No alerts are to be sent to you any more.</p>');
    };
    if (!['GET', 'HEAD', 'POST'].includes(request.method ?? ''))
      return void response.writeHead(405, { Allow: 'GET, HEAD, POST', 'Cache-Control': 'no-store' }).end();
    answer().catch((error) => {
      confirmations.log.error(
        { err: describeFailure(error) },
        'the agreement of a recipient of alerts could not be stored',
      );
      if (!response.headersSent) show(503, 'Try again', '<p>The gateway could not note it. Try again in a minute.</p>');
    });
  };
}

const tokenOf = (query: string) => new URLSearchParams(query).get('token') ?? '';

async function tokenIn(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) {
    text += chunk;
    if (text.length > BODY_BYTES_MAX) return '';
  }
  return tokenOf(text);
}

function formOf(address: string, token: string): string {
  return `<p>An account of this gateway wants to send alerts to ${escapeHtml(address)}.</p>
<form method="post" action="${CONFIRM_PATH}"><input type="hidden" name="token" value="${escapeHtml(token)}">
<button>Send me alerts</button></form>`;
}
