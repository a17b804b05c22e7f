// Amazon SNS signs its messages with its own key; the message names the certificate. The rules are in its documentation
// under "Verifying the signatures of Amazon SNS messages".

import { type KeyObject, verify } from 'node:crypto';
import { jsonAt, type WebhookMessage } from './message.ts';
import type { PublishedKeyProvider } from './provider.ts';
import { timeProblem } from './timestamps.ts';

/** The largest age of a message, in milliseconds: SNS retries for up to an hour with the same signature. */
const TOLERANCE_MS = 3_600_000;

const CONFIRMATION = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
/** The signed members in their order, by the type of the message. */
const SIGNED_MEMBERS = new Map([
  ['Notification', ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']],
  ['SubscriptionConfirmation', CONFIRMATION],
  ['UnsubscribeConfirmation', CONFIRMATION],
]);
const SIGNABLE = new Set([...SIGNED_MEMBERS.values()].flat());
const OPTIONAL = 'Subject';

/** The hash by the version of the signature. */
const ALGORITHMS = new Map([
  ['1', 'sha1'],
  ['2', 'sha256'],
]);

/** The URLs of the certificates of Amazon SNS. Only Amazon can publish there. */
const CERTIFICATE_URL =
  /^https:\/\/sns\.[a-z]{2,4}(-[a-z]+){1,3}-\d{1,2}\.amazonaws\.com(\.cn)?(\/[A-Za-z0-9_-]{1,128}){1,4}\.pem$/;

/** The Base64 of a signature with an RSA key of 2048 to 8192 bits. */
const SIGNATURE = /^[A-Za-z0-9+/]{342,1366}={0,2}$/;

/** Header fields that repeat members. They are not signed. */
const HEADERS = {
  'x-amz-sns-message-type': 'Type',
  'x-amz-sns-message-id': 'MessageId',
  'x-amz-sns-topic-arn': 'TopicArn',
};

/**
 * Accepts notifications and confirmations with signatures of both versions. An unsigned part must neither contradict a
 * signed one nor replace it, as the upstream may read it.
 */
export const sns: PublishedKeyProvider = {
  isKeyPublished: true,
  async problem(message, time, keyAt) {
    const text = (name: string) => {
      const value = jsonAt(message, name);
      return typeof value === 'string' ? value : undefined;
    };
    const signed = SIGNED_MEMBERS.get(text('Type') ?? '');
    if (!signed) return `the body is not JSON with a Type of ${[...SIGNED_MEMBERS.keys()].join(', ')}`;
    const reason =
      memberProblem(message, signed) ??
      headerProblem(message) ??
      timeProblem(text('Timestamp') ?? '', time, TOLERANCE_MS);
    if (reason) return reason;

    const algorithm = ALGORITHMS.get(text('SignatureVersion') ?? '');
    if (!algorithm) return `SignatureVersion is not one of ${[...ALGORITHMS.keys()].join(', ')}`;
    const signature = text('Signature') ?? '';
    if (!SIGNATURE.test(signature)) return 'Signature is not that of a key of RSA, in Base64';
    const url = text('SigningCertURL') ?? '';
    // All checks without a fetch come first, so that a forged message causes no request.
    if (!CERTIFICATE_URL.test(url)) return 'SigningCertURL does not lead to a certificate of Amazon SNS';

    const lines = signed.filter((name) => text(name) !== undefined).map((name) => `${name}\n${text(name)}\n`);
    const key = await keyAt(url);
    if (!isSignedBy(key, algorithm, lines.join(''), signature)) return 'the signature is not that of this message';
    // The slowest check is the last one: only customers of Amazon SNS get here.
    return areAmbiguous(memberNames(message.body.toString()))
      ? 'the body has members whose names can be taken for each other'
      : undefined;
  },
};

function isSignedBy(key: KeyObject, algorithm: string, text: string, signature: string): boolean {
  return verify(algorithm, Buffer.from(text), key, Buffer.from(signature, 'base64'));
}

/** The mistake in the signed members, or in members that are signed only in another type of message. */
function memberProblem(message: WebhookMessage, signed: readonly string[]): string | undefined {
  for (const name of SIGNABLE) {
    const value = jsonAt(message, name) ?? undefined;
    if (!signed.includes(name)) {
      if (value !== undefined) return `${name} is there, and is not signed in a message of this type`;
    } else if (value === undefined && name === OPTIONAL) continue;
    else if (typeof value !== 'string') return `${name} is missing, or is not a text`;
    // The signed text consists of lines, so a line break in a member could imitate the next member.
    else if (name !== 'Message' && /[\r\n]/.test(value)) return `${name} has more than one line`;
  }
  return undefined;
}

function headerProblem(message: WebhookMessage): string | undefined {
  for (const [header, member] of Object.entries(HEADERS))
    if (message.headers(header).some((value) => value !== jsonAt(message, member)))
      return `the header ${header} differs from ${member}, which is signed`;
  return undefined;
}

/**
 * The member names of the outermost object, including repetitions.
 * @param text valid JSON.
 */
function memberNames(text: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let last = '""';
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      const start = at++;
      for (; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
      if (depth === 1) last = text.slice(start, at + 1);
    } else if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') depth--;
    else if (char === ':' && depth === 1) names.push(JSON.parse(last) as string);
  }
  return names;
}

/**
 * Whether parsers may disagree on the members: two have the same name, or names that differ only in case, which some parsers
 * ignore. Names must consist of ASCII letters, as the case of others depends on the language.
 */
function areAmbiguous(names: readonly string[]): boolean {
  return (
    new Set(names.map((name) => name.toLowerCase())).size < names.length ||
    !names.every((name) => /^[A-Za-z]+$/.test(name))
  );
}
