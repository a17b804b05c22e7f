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
    'In a browser session only the dashboard’s own operations run, and documents that the operator has registered ' +
      '(PERSISTED_DOCUMENTS_DIR): send { "documentId": "sha256:…" } in place of a query. Any other document needs an API key in ' +
      'the Authorization header.',
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
  ssoNotOffered: conflict(90215, 'This gateway has no provider for single sign-on; the operator sets SSO_ISSUER.'),
  ssoUnavailable: [
    90216,
    503,
    'UNAVAILABLE',
    'The provider for single sign-on does not answer as it should; try again.',
  ],
  ssoDenied: forbidden(90217, 'The provider for single sign-on did not let you in.'),
  ssoFailed: forbidden(
    90218,
    'Single sign-on did not come about; begin anew. The log of the gateway has the reason in "sign_ins".',
  ),
  ssoAttemptOver: forbidden(90219, 'This sign-in took too long, or another tab began it; begin anew.'),
  ssoNoEmail: forbidden(
    90220,
    'The provider for single sign-on names no verified e-mail address for you. The operator can have it sent (scope "email"), or sets SSO_TRUST_EMAIL.',
  ),
  ssoNoGroup: forbidden(
    90221,
    'None of your groups may sign in here; the operator names them in SSO_ADMIN_GROUPS and SSO_MEMBER_GROUPS.',
  ),
  ssoUnknownUser: forbidden(90222, 'No user here has your e-mail address; an admin can add you.'),
  ssoUserTaken: conflict(
    90223,
    'The user with your e-mail address belongs to another identity at the provider; ask an admin.',
  ),
  ssoUnknownAccount: [
    90365,
    503,
    'UNAVAILABLE',
    'SSO_ACCOUNT of this gateway is the id of no account; its operator sets it.',
  ],
  ssoUserInactive: forbidden(90224, 'Your user was deactivated; ask an admin.'),
  passwordNotOffered: forbidden(90225, 'Passwords and passkeys are off here; use single sign-on.'),
  secondFactorNeeded: forbidden(
    90226,
    'Your second factor is needed, too: the six digits that your app shows, or one of your recovery codes.',
  ),
  wrongCode: invalid(90227, '{member} is not valid, or was used already.'),
  secondFactorOn: conflict(90228, 'You have a second factor already; turn it off first.'),
  noSecondFactor: conflict(90229, 'You have no second factor that could be confirmed or turned off; begin one first.'),
  ownSecondFactor: conflict(90260, 'Turn off your own second factor with your password and a code.'),
  passkeysNotOffered: conflict(
    90261,
    'Passkeys are for a host name and TLS: open the dashboard at its https address or at http://localhost, not at an IP address.',
  ),
  passkeyFailed: forbidden(
    90262,
    'This passkey does not sign you in: it is unknown here, or was removed. Sign in another way. The log of the gateway has the reason in "sign_ins".',
  ),
  passkeyAttemptOver: forbidden(
    90263,
    'This took longer than five minutes, was answered already, or another browser began it; begin anew.',
  ),
  passkeyRefused: invalid(90264, '{member} is no new passkey for this dashboard: {reason}.'),
  passkeyKnown: conflict(90265, 'This passkey was added already.'),
  tooManyPasskeys: conflict(90266, 'You have {max} passkeys already; remove one first.'),
  passkeyNameWrong: invalid(90268, '{member} must be one line of 1 to {max} bytes.'),
  ownPasskeys: conflict(90267, 'Remove your own passkeys with `removePasskey` and your password.'),
} satisfies Record<string, ErrorRow>;
