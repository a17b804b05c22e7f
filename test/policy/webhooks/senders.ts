// The senders of webhooks that are known, each signing as its documentation says: written apart from what checks them.

import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto';

/** What is to be signed. */
export interface Outgoing {
  secret: string;
  body: string;
  /** Unix time in seconds. */
  at: number;
  /** Of the endpoint. */
  url: string;
}

export interface Sender {
  /** As its users would have it. */
  secret: string;
  /** The header fields that go along; with a body of its own, where the signature is in it. */
  send(outgoing: Outgoing): Record<string, string>;
  body?(outgoing: Outgoing): string;
}

type Fields = (outgoing: Outgoing, mac: Mac) => Record<string, string>;
/** An HMAC with the secret. */
type Mac = (...parts: string[]) => string;

const SECRET = 'a secret of some length';
const ENCODED = `whsec_${Buffer.from('a key of some length').toString('base64')}`;

const by =
  (algorithm: string, encoding: 'hex' | 'base64', key: (secret: string) => string | Buffer = (secret) => secret) =>
  (send: Fields, secret = SECRET): Sender => ({
    secret,
    send: (outgoing) =>
      send(outgoing, (...parts) => createHmac(algorithm, key(outgoing.secret)).update(parts.join('')).digest(encoding)),
  });
const hex = by('sha256', 'hex');
const base64 = by('sha256', 'base64');
const sha1 = by('sha1', 'hex');
const sha1Base64 = by('sha1', 'base64');
const sha512 = by('sha512', 'hex');
const encodedKey = by('sha256', 'base64', (secret) => Buffer.from(secret.replace('whsec_', ''), 'base64'));

const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const meta = hex(({ body }, mac) => ({ 'X-Hub-Signature-256': `sha256=${mac(body)}` }));
const stripeLike = (name: string) => hex(({ body, at }, mac) => ({ [name]: `t=${at},v1=${mac(`${at}.`, body)}` }));
const standard = (prefix: string) =>
  encodedKey(
    ({ body, at }, mac) => ({
      [`${prefix}-Id`]: 'msg_1',
      [`${prefix}-Timestamp`]: `${at}`,
      [`${prefix}-Signature`]: `v1,bm90IHRoaXM= v1,${mac(`msg_1.${at}.`, body)}`,
    }),
    ENCODED,
  );
/** Names and values of a form, by name. */
const sorted = (body: string) => [...new URLSearchParams(body)].sort(([a], [b]) => (a < b ? -1 : 1)).flat();
const iso = (at: number) => new Date(at * 1000).toISOString();

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');

export const senders: Record<string, Sender> = {
  aftership: base64(({ body }, mac) => ({ 'aftership-hmac-sha256': mac(body) })),
  airship: hex(({ body, at }, mac) => ({ 'X-UA-TIMESTAMP': `${at}`, 'X-UA-SIGNATURE': mac(`${at}:`, body) })),
  alchemy: hex(({ body }, mac) => ({ 'X-Alchemy-Signature': mac(body) })),
  autodesk: sha1(({ body }, mac) => ({ 'x-adsk-signature': `sha1hash=${mac(body)}` })),
  bitbucket: hex(({ body }, mac) => ({ 'X-Hub-Signature': `sha256=${mac(body)}` })),
  bolt: base64(({ body }, mac) => ({ 'X-Bolt-Hmac-Sha256': mac(body) })),
  box: base64(({ body, at }, mac) => ({
    'BOX-DELIVERY-TIMESTAMP': iso(at),
    'BOX-SIGNATURE-SECONDARY': mac(body, iso(at)),
  })),
  brex: standard('Webhook'),
  buildkite: hex(({ body, at }, mac) => ({
    'X-Buildkite-Signature': `timestamp=${at},signature=${mac(`${at}.`, body)}`,
  })),
  calendly: stripeLike('Calendly-Webhook-Signature'),
  castle: base64(({ body }, mac) => ({ 'X-Castle-Signature': mac(body) })),
  chargify: hex(({ body }, mac) => ({ 'X-Chargify-Webhook-Signature-Hmac-Sha-256': mac(body) })),
  circleci: hex(({ body }, mac) => ({ 'circleci-signature': `v1=${mac(body)}` })),
  clearbit: sha1(({ body }, mac) => ({ 'X-Request-Signature': `sha1=${mac(body)}` })),
  clerk: standard('svix'),
  coinbase: hex(({ body }, mac) => ({ 'X-CC-Webhook-Signature': mac(body) })),
  contentful: hex(({ body, at, url }, mac) => ({
    'X-Contentful-Timestamp': `${at}000`,
    'X-Contentful-Signed-Headers': 'x-contentful-signed-headers,x-contentful-timestamp',
    'X-Contentful-Signature': mac(
      `POST\n${new URL(url).pathname}${new URL(url).search}\n`,
      `x-contentful-signed-headers:x-contentful-signed-headers,x-contentful-timestamp;x-contentful-timestamp:${at}000\n`,
      body,
    ),
  })),
  discord: {
    secret: Buffer.from(ed.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex'),
    send: ({ body, at }) => ({
      'X-Signature-Timestamp': `${at}`,
      'X-Signature-Ed25519': sign(null, Buffer.from(`${at}${body}`), ed.privateKey).toString('hex'),
    }),
  },
  docusign: base64(({ body }, mac) => ({ 'X-DocuSign-Signature-2': mac(body) })),
  dropbox: hex(({ body }, mac) => ({ 'X-Dropbox-Signature': mac(body) })),
  dwolla: hex(({ body }, mac) => ({ 'X-Request-Signature-SHA-256': mac(body) })),
  facebook_graph_api: meta,
  facebook_messenger: meta,
  frameio: hex(({ body, at }, mac) => ({
    'X-Frameio-Request-Timestamp': `${at}`,
    'X-Frameio-Signature': `v0=${mac(`v0:${at}:`, body)}`,
  })),
  github: meta,
  gitlab: { secret: SECRET, send: ({ secret }) => ({ 'X-Gitlab-Token': secret }) },
  gocardless: hex(({ body }, mac) => ({ 'Webhook-Signature': mac(body) })),
  graphcms: base64(({ body, at }, mac) => {
    const signed = JSON.stringify({ Body: body, EnvironmentName: 'master', TimeStamp: at * 1000 });
    return { 'gcms-signature': `sign=${mac(signed)}, env=master, t=${at}000` };
  }),
  heroku: base64(({ body }, mac) => ({ 'Heroku-Webhook-Hmac-SHA256': mac(body) })),
  hubspot: base64(({ body, at, url }, mac) => ({
    'X-HubSpot-Request-Timestamp': `${at}000`,
    'X-HubSpot-Signature-v3': mac(`POST${url}`, body, `${at}000`),
  })),
  instagram: meta,
  intercom: sha1(({ body }, mac) => ({ 'X-Hub-Signature': `sha1=${mac(body)}` })),
  jira: hex(({ body }, mac) => ({ 'X-Hub-Signature': `sha256=${mac(body)}` })),
  launch_darkly: hex(({ body }, mac) => ({ 'X-LD-Signature': mac(body) })),
  lemon_squeezy: hex(({ body }, mac) => ({ 'X-Signature': mac(body) })),
  line: base64(({ body }, mac) => ({ 'x-line-signature': mac(body) })),
  linear: hex(({ body }, mac) => ({ 'Linear-Signature': mac(body) })),
  mailchimp: sha1Base64(({ body, url }, mac) => ({
    ...form,
    'X-Mandrill-Signature': mac(url, ...sorted(body)),
  })),
  mailgun: {
    secret: SECRET,
    send: () => ({}),
    body({ secret, at }) {
      const signature = createHmac('sha256', secret).update(`${at}a token`).digest('hex');
      return JSON.stringify({ signature: { timestamp: `${at}`, token: 'a token', signature }, 'event-data': {} });
    },
  },
  microsoft_teams: encodedKey(({ body }, mac) => ({ Authorization: `HMAC ${mac(body)}` }), ENCODED.slice(6)),
  modern_treasury: hex(({ body }, mac) => ({ 'X-Signature': mac(body) })),
  mux: stripeLike('Mux-Signature'),
  notion: hex(({ body }, mac) => ({ 'X-Notion-Signature': `sha256=${mac(body)}` })),
  openai: standard('webhook'),
  orb: hex(({ body, at }, mac) => {
    const when = iso(at).replace('Z', '');
    return { 'X-Orb-Timestamp': when, 'X-Orb-Signature': `v1=${mac(`v1:${when}:`, body)}` };
  }),
  paddle: hex(({ body, at }, mac) => ({ 'Paddle-Signature': `ts=${at};h1=${mac(`${at}:`, body)}` })),
  pagerduty: hex(({ body }, mac) => ({ 'X-PagerDuty-Signature': `v1=${'0'.repeat(64)},v1=${mac(body)}` })),
  paystack: sha512(({ body }, mac) => ({ 'x-paystack-signature': mac(body) })),
  pinwheel: hex(({ body, at }, mac) => ({
    'x-timestamp': `${at}`,
    'x-pinwheel-signature': `v2=${mac(`v2:${at}:`, body)}`,
  })),
  pusher: hex(({ body }, mac) => ({ 'X-Pusher-Signature': mac(body) })),
  quickbooks: base64(({ body }, mac) => ({ 'intuit-signature': mac(body) })),
  razorpay: hex(({ body }, mac) => ({ 'X-Razorpay-Signature': mac(body) })),
  resend: standard('svix'),
  sendgrid: {
    secret: ec.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    send: ({ body, at }) => ({
      'X-Twilio-Email-Event-Webhook-Timestamp': `${at}`,
      'X-Twilio-Email-Event-Webhook-Signature': sign('sha256', Buffer.from(at + body), ec.privateKey).toString(
        'base64',
      ),
    }),
  },
  sentry: hex(({ body }, mac) => ({ 'Sentry-Hook-Signature': mac(body) })),
  shopify: base64(({ body }, mac) => ({ 'X-Shopify-Hmac-Sha256': mac(body) })),
  slack: hex(({ body, at }, mac) => ({
    'X-Slack-Request-Timestamp': `${at}`,
    'X-Slack-Signature': `v0=${mac(`v0:${at}:`, body)}`,
  })),
  sonatype: sha1(({ body }, mac) => ({ 'X-Nexus-Webhook-Signature': mac(body) })),
  square: base64(({ body, url }, mac) => ({ 'x-square-hmacsha256-signature': mac(url, body) })),
  standard_webhooks: standard('webhook'),
  stripe: stripeLike('Stripe-Signature'),
  svix: standard('svix'),
  terraform: sha512(({ body }, mac) => ({ 'X-TFE-Notification-Signature': mac(body) })),
  tiktok: hex(({ body, at }, mac) => ({ 'TikTok-Signature': `t=${at},s=${mac(`${at}.`, body)}` })),
  trello: sha1Base64(({ body, url }, mac) => ({ 'X-Trello-Webhook': mac(body, url) })),
  twilio: sha1Base64(({ body, url }, mac) => ({
    ...form,
    'X-Twilio-Signature': mac(url, ...sorted(body)),
  })),
  twitter: base64(({ body }, mac) => ({ 'x-twitter-webhooks-signature': `sha256=${mac(body)}` })),
  typeform: base64(({ body }, mac) => ({ 'Typeform-Signature': `sha256=${mac(body)}` })),
  vercel: sha1(({ body }, mac) => ({ 'x-vercel-signature': mac(body) })),
  webex: sha1(({ body }, mac) => ({ 'X-Spark-Signature': mac(body) })),
  whatsapp: meta,
  woocommerce: base64(({ body }, mac) => ({ 'X-WC-Webhook-Signature': mac(body) })),
  workos: hex(({ body, at }, mac) => ({ 'WorkOS-Signature': `t=${at}000, v1=${mac(`${at}000.`, body)}` })),
  worldline: base64(({ body }, mac) => ({ 'X-GCS-Signature': mac(body), 'X-GCS-KeyId': 'key' })),
  xero: base64(({ body }, mac) => ({ 'x-xero-signature': mac(body) })),
  zendesk: base64(({ body, at }, mac) => ({
    'X-Zendesk-Webhook-Signature-Timestamp': iso(at),
    'X-Zendesk-Webhook-Signature': mac(iso(at), body),
  })),
  zoom: hex(({ body, at }, mac) => ({
    'x-zm-request-timestamp': `${at}`,
    'x-zm-signature': `v0=${mac(`v0:${at}:`, body)}`,
  })),
};

/** What Twilio puts into the query for bodies that are no forms. */
export const bodyHash = (body: string) => createHash('sha256').update(body).digest('hex');
