// Webhook providers that sign only the body.

import { challenges } from './challenges.ts';
import { fieldPairs, header, hmac, type SharedSecretProvider } from './provider.ts';

const BASE64 = 'base64';
/** The header names of DocuSign: one for each of the keys of an account. */
const DOCUSIGN_HEADERS = Array.from({ length: 100 }, (_, i) => `x-docusign-signature-${i + 1}`);

const hub256 = hmac({ in: header('x-hub-signature-256', 'sha256=') });

/** The providers by name. */
export const bodyProviders: Record<string, SharedSecretProvider> = {
  aftership: hmac({ in: header('aftership-hmac-sha256'), encoding: BASE64 }),
  alchemy: hmac({ in: header('x-alchemy-signature') }),
  autodesk: hmac({ in: header('x-adsk-signature', 'sha1hash='), algorithm: 'sha1' }),
  bitbucket: hmac({ in: header('x-hub-signature', 'sha256=') }),
  bolt: hmac({ in: header('x-bolt-hmac-sha256'), encoding: BASE64 }),
  castle: hmac({ in: header('x-castle-signature'), encoding: BASE64 }),
  chargify: hmac({ in: header('x-chargify-webhook-signature-hmac-sha-256') }),
  circleci: hmac({ in: fieldPairs('circleci-signature', 'v1') }),
  clearbit: hmac({ in: header('x-request-signature', 'sha1='), algorithm: 'sha1' }),
  coinbase: hmac({ in: header('x-cc-webhook-signature') }),
  docusign: hmac({ in: (message) => DOCUSIGN_HEADERS.flatMap((name) => message.header(name) ?? []), encoding: BASE64 }),
  dropbox: hmac({ in: header('x-dropbox-signature') }),
  dwolla: hmac({ in: header('x-request-signature-sha-256') }),
  facebook_graph_api: hub256,
  facebook_messenger: hub256,
  github: hub256,
  gocardless: hmac({ in: header('webhook-signature') }),
  heroku: hmac({ in: header('heroku-webhook-hmac-sha256'), encoding: BASE64 }),
  instagram: hub256,
  intercom: hmac({ in: header('x-hub-signature', 'sha1='), algorithm: 'sha1' }),
  jira: hmac({ in: header('x-hub-signature', 'sha256=') }),
  launch_darkly: hmac({ in: header('x-ld-signature') }),
  lemon_squeezy: hmac({ in: header('x-signature') }),
  line: hmac({ in: header('x-line-signature'), encoding: BASE64 }),
  linear: hmac({ in: header('linear-signature') }),
  microsoft_teams: hmac({ in: header('authorization', 'HMAC '), encoding: BASE64, isKeyEncoded: true }),
  modern_treasury: hmac({ in: header('x-signature') }),
  notion: hmac({ in: header('x-notion-signature', 'sha256=') }),
  pagerduty: hmac({ in: fieldPairs('x-pagerduty-signature', 'v1') }),
  paystack: hmac({ in: header('x-paystack-signature'), algorithm: 'sha512' }),
  pusher: hmac({ in: header('x-pusher-signature') }),
  quickbooks: hmac({ in: header('intuit-signature'), encoding: BASE64 }),
  razorpay: hmac({ in: header('x-razorpay-signature') }),
  sentry: hmac({ in: header('sentry-hook-signature') }),
  shopify: hmac({ in: header('x-shopify-hmac-sha256'), encoding: BASE64 }),
  sonatype: hmac({ in: header('x-nexus-webhook-signature'), algorithm: 'sha1' }),
  terraform: hmac({ in: header('x-tfe-notification-signature'), algorithm: 'sha512' }),
  twitter: hmac({
    in: header('x-twitter-webhooks-signature', 'sha256='),
    encoding: BASE64,
    answer: challenges.twitter,
  }),
  typeform: hmac({ in: header('typeform-signature', 'sha256='), encoding: BASE64 }),
  vercel: hmac({ in: header('x-vercel-signature'), algorithm: 'sha1' }),
  webex: hmac({ in: header('x-spark-signature'), algorithm: 'sha1' }),
  whatsapp: hub256,
  woocommerce: hmac({ in: header('x-wc-webhook-signature'), encoding: BASE64 }),
  worldline: hmac({ in: header('x-gcs-signature'), encoding: BASE64, answer: challenges.worldline }),
  xero: hmac({ in: header('x-xero-signature'), encoding: BASE64, answer: challenges.xero }),
};
