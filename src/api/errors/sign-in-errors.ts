// Errors of signing in. Part of the error table.

import { conflict, type ErrorRow, invalid } from './error-row.ts';

const forbidden = (number: number, text: string): ErrorRow => [number, 403, 'FORBIDDEN', text];

export const signInErrors = {
  sessionOver: [90200, 401, 'UNAUTHENTICATED', 'You are not signed in any more: this browser session has ended.'],
  dashboardOnly: forbidden(
    90201,
    'A browser session works for the dashboard only: JSON by POST to /graphql, from a page of the same origin, with the secret in the header "Gateway-Dashboard". Any other client must send an API key.',
  ),
  documentNotPersisted: forbidden(
    90202,
    'In a browser session only the dashboard’s own operations run: send { "documentId": "sha256:…" } in place of a ' +
      'query. Any other document needs an API key in the Authorization header.',
  ),
  unknownDocument: invalid(
    90203,
    '{member} is not a document that this gateway knows. After an update of the gateway, reload the dashboard.',
  ),
  signInNotOffered: forbidden(
    90204,
    'Sign-in is not possible over plain HTTP, because others could listen. Give the API a certificate (API_TLS_CERT and API_TLS_KEY), or set PUBLIC_API_URL to the https address of a proxy in front of it, or open the dashboard on the gateway’s own machine at a loopback address.',
  ),
  signInFailed: forbidden(90205, 'The e-mail address or the password is wrong.'),
  tooManyAttempts: [90206, 429, 'RATE_LIMITED', 'There were too many failed attempts; try again in {seconds} s.'],
  linkOver: forbidden(
    90207,
    'This link is not valid. A link works once and for 15 minutes, and a newer link of the same user replaces it.',
  ),
  passwordLength: invalid(90208, '{member} must have {min} to {max} characters.'),
  passwordHasName: invalid(90209, '{member} must not contain the name in your e-mail address.'),
  passwordRepeats: invalid(90210, '{member} must not repeat a single character.'),
  wrongPassword: invalid(90211, '{member} is not your password.'),
  noPassword: conflict(90212, 'You have no password yet; set one with a sign-in link.'),
  passwordsBusy: [90213, 503, 'UNAVAILABLE', 'Too many people are signing in right now; try again.'],
  userNotActive: conflict(90214, 'The user is not active; activate the user first.'),
} satisfies Record<string, ErrorRow>;
