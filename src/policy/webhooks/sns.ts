// Amazon SNS signs its messages with a key of its own; the message names the certificate. As its documentation says, under
// "Verifying the signatures of Amazon SNS messages".

import { type KeyObject, verify } from 'node:crypto';
import { jsonAt, type WebhookMessage } from './message.ts';
import type { PublishedKeyProvider } from './provider.ts';
import { timeProblem } from './timestamps.ts';

/** It tries again for up to an hour, always with the same signature: milliseconds. */
const TOLERANCE = 3_600_000;

const CONFIRMATION = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
/** The members that are signed, by the type of the message, in the order in which they are. */
const SIGNED = new Map([
  ['Notification', ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']],
  ['SubscriptionConfirmation', CONFIRMATION],
  ['UnsubscribeConfirmation', CONFIRMATION],
]);
const SIGNABLE = new Set([...SIGNED.values()].flat());
const OPTIONAL = 'Subject';

/** By the version of the signature. */
const ALGORITHMS = new Map([
  ['1', 'sha1'],
  ['2', 'sha256'],
]);

/** Where the certificates of Amazon SNS are, and nothing else is. */
const CERTIFICATE_URL =
  /^https:\/\/sns\.[a-z]{2,4}(-[a-z]+){1,3}-\d{1,2}\.amazonaws\.com(\.cn)?(\/[A-Za-z0-9_-]{1,128}){1,4}\.pem$/;

/** Base64 of a signature with RSA of 2048 to 8192 bits. */
const SIGNATURE = /^[A-Za-z0-9+/]{342,1366}={0,2}$/;

/** Header fields that say what members say. They are not signed. */
const HEADERS = {
  'x-amz-sns-message-type': 'Type',
  'x-amz-sns-message-id': 'MessageId',
  'x-amz-sns-topic-arn': 'TopicArn',
};

/**
 * Takes notifications and confirmations, with signatures of both versions. What is not signed must not contradict what is,
 * nor be there in its place: upstream may read it.
 */
export const sns: PublishedKeyProvider = {
  isKeyPublished: true,
  async problem(message, time, keyAt) {
    const text = (name: string) => {
      const value = jsonAt(message, name);
      return typeof value === 'string' ? value : undefined;
    };
    const signed = SIGNED.get(text('Type') ?? '');
    if (!signed) return `the body is not JSON with a Type of ${[...SIGNED.keys()].join(', ')}`;
    const reason =
      memberProblem(message, signed) ?? headerProblem(message) ?? timeProblem(text('Timestamp') ?? '', time, TOLERANCE);
    if (reason) return reason;

    const algorithm = ALGORITHMS.get(text('SignatureVersion') ?? '');
    if (!algorithm) return `SignatureVersion is not one of ${[...ALGORITHMS.keys()].join(', ')}`;
    const signature = text('Signature') ?? '';
    if (!SIGNATURE.test(signature)) return 'Signature is not that of a key of RSA, in Base64';
    const url = text('SigningCertURL') ?? '';
    // Before anything is fetched: who can be told from here causes no requests.
    if (!CERTIFICATE_URL.test(url)) return 'SigningCertURL does not lead to a certificate of Amazon SNS';

    const lines = signed.filter((name) => text(name) !== undefined).map((name) => `${name}\n${text(name)}\n`);
    const key = await keyAt(url);
    if (!isSignedBy(key, algorithm, lines.join(''), signature)) return 'the signature is not that of this message';
    // Last, as it takes longest: only who has a topic at Amazon SNS gets here.
    return areConfusing(memberNames(message.body.toString()))
      ? 'the body has members whose names can be taken for each other'
      : undefined;
  },
};

function isSignedBy(key: KeyObject, algorithm: string, text: string, signature: string): boolean {
  return verify(algorithm, Buffer.from(text), key, Buffer.from(signature, 'base64'));
}

/** What is wrong with the members that are signed, or would be in a message of another type. */
function memberProblem(message: WebhookMessage, signed: readonly string[]): string | undefined {
  for (const name of SIGNABLE) {
    const value = jsonAt(message, name) ?? undefined;
    if (!signed.includes(name)) {
      if (value !== undefined) return `${name} is there, and is not signed in a message of this type`;
    } else if (value === undefined && name === OPTIONAL) continue;
    else if (typeof value !== 'string') return `${name} is missing, or is not a text`;
    // What is signed is lines: in another member, some could pass for the next member.
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
 * What the members of the outermost object are called, each as often as it is there.
 * @param text well-formed JSON.
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
 * Whether members can be taken for each other: two of the same name, or of names that differ in case alone, which some
 * parsers do not look at. So that case means the same everywhere, names have to consist of letters from A to Z.
 */
function areConfusing(names: readonly string[]): boolean {
  return (
    new Set(names.map((name) => name.toLowerCase())).size < names.length ||
    !names.every((name) => /^[A-Za-z]+$/.test(name))
  );
}
