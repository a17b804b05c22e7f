// How visitors are told of an error: a line of text for programs, a page for people.

import { STATUS_CODES } from 'node:http';
import { htmlPage } from './html-page.ts';
import { type VisitorError, visitorErrors } from './visitor-errors.ts';

/** An answer of the gateway's own. */
export interface ErrorResponseParts {
  status: number;
  /** Without `Connection`. Names as they are usually written; HTTP/2 wants them in lower case. */
  fields: readonly (readonly [name: string, value: string])[];
  body: Buffer;
}

/** Whether somebody who sends this `Accept` header wants pages. */
export function acceptsHtml(accept: string): boolean {
  return /\btext\/html\b/i.test(accept);
}

const answers = new Map<string, ErrorResponseParts>();

/**
 * The answer to a visitor who ran into an error. To HEAD, send it without its body.
 * @param canRetry whether its page may lead to a log-in at the same host.
 * @param detail a sentence behind its text; without one, the answer is made once.
 */
export function errorResponse(error: VisitorError, asHtml: boolean, canRetry = true, detail = ''): ErrorResponseParts {
  const key = `${error} ${asHtml} ${canRetry}`;
  const known = detail === '' ? answers.get(key) : undefined;
  if (known) return known;
  const { number, status, text: general, retryAfter, allow, retryPath } = visitorErrors[error];
  const text = detail === '' ? general : `${general} ${detail}`;
  const code = `ERR_GATEWAY_${number}`;
  const body = Buffer.from(asHtml ? page(code, status, text, canRetry ? retryPath : undefined) : `${code}: ${text}\n`);
  const answer: ErrorResponseParts = {
    status,
    fields: [
      ['Content-Type', asHtml ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8'],
      ['Content-Length', String(body.length)],
      ['Cache-Control', 'no-store'],
      ['X-Content-Type-Options', 'nosniff'],
      ['Gateway-Error-Code', code],
      ...(retryAfter === undefined ? [] : [['Retry-After', String(retryAfter)] as const]),
      ...(allow === undefined ? [] : [['Allow', allow] as const]),
      ...(asHtml ? [['Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'"] as const] : []),
    ],
    body,
  };
  if (detail === '') answers.set(key, answer);
  return answer;
}

function page(code: string, status: number, text: string, retryPath: string | undefined): string {
  const retry = retryPath === undefined ? '' : `<p><a href="${retryPath}">Try again</a></p>\n`;
  return htmlPage(`${status} ${STATUS_CODES[status]}`, `<p>${text}</p>\n${retry}<p><code>${code}</code></p>`);
}
