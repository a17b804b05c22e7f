// Separates the secrets of a policy from its text. The stored and shown text has a mask in place of each secret.

import { isDeepStrictEqual } from 'node:util';
import {
  type FoundSecret,
  findSecrets,
  maskSecret,
  SECRET_MASK,
  withValuesAt,
} from '../../protocol/policy/policy-secrets.ts';
import { checkPolicy, effectivePhase, type PolicyProtocol } from '../../protocol/policy/policy-shape.ts';
import { type PolicyText, parsePolicyText, readPolicyDocument } from '../settings/policy-text.ts';
import { PolicyError } from '../settings/problems.ts';

/** The most entries of a list of secrets: more than any action allows. */
const LIST_ENTRIES_MAX = 100;

const isBeyondLimit = ({ path }: FoundSecret) => Number(path[6] ?? 0) >= LIST_ENTRIES_MAX;

/** A secret and the position of its mask in the text. */
export interface PolicySecret {
  /** The secret itself. */
  text: string;
  /** The start and the length of the mask with its quotes, in UTF-16 code units. */
  at: number;
  length: number;
  /** The identity of the place. A new version of the policy keeps the secret when its place is equal. */
  place: string;
  /** The index in a list; 0 for a secret outside of lists. */
  index: number;
  /** The text shown in place of the secret. */
  mask: string;
}

/** A policy with its secrets separated from its text. */
export interface SplitPolicy {
  /** The text with masks. */
  value: string;
  /** The secrets in the order of their masks. Several may share one mask, through an alias. */
  secrets: readonly (PolicySecret & { path: readonly (string | number)[] })[];
  /** The parsed policy with its secrets in plaintext. */
  document: unknown;
  /** The parsed original text. */
  parsed: PolicyText;
}

/**
 * Separates the secrets of a policy in JSON or YAML. The rest of the text stays unchanged where possible. Otherwise the text
 * is replaced by the document in JSON: when an object has a member twice, or masks make the text too long.
 * @throws {PolicyError} when the text is neither JSON nor YAML.
 */
export function splitPolicy(text: string, protocol: PolicyProtocol): SplitPolicy {
  const parsed = parsePolicyText(text);
  const { document } = parsed;
  // The compiler reports a malformed policy. Here it is not searched, as it may be nested too deep.
  const secrets = checkPolicy(document, protocol).length === 0 ? findSecrets(document) : [];
  if (secrets.length === 0 || secrets.some(isBeyondLimit)) return { value: text, secrets: [], document, parsed };
  const split = splitText(text, parsed, protocol);
  const isUsable = split && (!parsed.hasAliases || isReadable(split.value));
  return isUsable && fits(split) ? split : splitDocument(document, protocol);
}

function splitDocument(document: unknown, protocol: PolicyProtocol): SplitPolicy {
  const json = JSON.stringify(document);
  return splitText(json, parsePolicyText(json), protocol) as SplitPolicy; // In this JSON each secret has a place of its own.
}

/** Undefined when a secret has no place in the text, or its place would need two different masks. */
function splitText(text: string, parsed: PolicyText, protocol: PolicyProtocol): SplitPolicy | undefined {
  const { document, rangeOf } = parsed;
  const found: { secret: FoundSecret; mask: string; from: number; to: number }[] = [];
  const masks = new Map<number, string>();
  for (const secret of findSecrets(document)) {
    if (typeof secret.value !== 'string') continue; // The compiler refuses it.
    const [from, to] = rangeOf(secret.path) ?? [];
    const mask = maskSecret(secret.member, secret.value);
    if (from === undefined || to === undefined) return undefined;
    if ((masks.get(from) ?? mask) !== mask) return undefined;
    masks.set(from, mask);
    found.push({ secret, mask, from, to });
  }
  found.sort((a, b) => a.from - b.from);
  const secrets: SplitPolicy['secrets'][number][] = [];
  let [value, end, at] = ['', 0, 0];
  for (const { secret, mask, from, to } of found) {
    const written = quoted(mask);
    if (from >= end) {
      value += text.slice(end, from);
      at = value.length;
      // A YAML block scalar includes the line break at its end.
      value += text[to - 1] === '\n' ? `${written}\n` : written;
      end = to;
    }
    const { path, value: own } = secret;
    const place = placeOf(secret, protocol);
    secrets.push({ text: own as string, at, length: written.length, place, index: Number(path[6] ?? 0), mask, path });
  }
  return { value: value + text.slice(end), secrets, document, parsed };
}

/** A text in JSON, which is also valid YAML. */
const quoted = (text: string) => JSON.stringify(text);

/** Whether both texts, with masks and with secrets, are within the limit. */
const fits = (policy: SplitPolicy) =>
  policy.value.length <= policy.parsed.max && joinPolicy(policy).length <= policy.parsed.max;

function isReadable(text: string): boolean {
  try {
    readPolicyDocument(text);
    return true;
  } catch (error) {
    if (error instanceof PolicyError) return false;
    throw error;
  }
}

function placeOf({ member, path, type, settings }: FoundSecret, protocol: PolicyProtocol): string {
  const [phase, rule, , action] = path as [Parameters<typeof effectivePhase>[0], ...(string | number)[]];
  const of = member.of === undefined ? null : settings[member.of];
  return JSON.stringify([effectivePhase(phase, protocol), rule, action, type, member.name, of]);
}

/** Joins a policy into one text with its secrets in plaintext. */
export function joinPolicy({
  value,
  secrets,
}: {
  value: string;
  secrets: readonly Pick<PolicySecret, 'text' | 'at' | 'length'>[];
}): string {
  let [text, end] = ['', 0];
  for (const { text: secret, at, length } of secrets) {
    if (at < end) continue; // It shares the mask of the secret before.
    text += value.slice(end, at) + quoted(secret);
    end = at + length;
  }
  return text + value.slice(end);
}

/**
 * Replaces masks by the stored secrets of an action of the same type at the same place. An entry of a list may have moved
 * when its visible part identifies it. Other masks stay, and make the policy invalid.
 */
export function keepSecrets(
  policy: SplitPolicy,
  stored: readonly PolicySecret[],
  protocol: PolicyProtocol,
): SplitPolicy {
  const known = new Map<string, PolicySecret[]>();
  for (const secret of stored) known.set(keyOf(secret), [...(known.get(keyOf(secret)) ?? []), secret]);
  const kept = policy.secrets.map((secret) => {
    const storedSecret =
      secret.text === secret.mask ? matchingSecret(secret, known.get(keyOf(secret)) ?? []) : undefined;
    return storedSecret ? { ...secret, text: storedSecret.text } : secret;
  });
  if (kept.every(({ text }, i) => text === policy.secrets[i]?.text)) return policy;
  const document = withValuesAt(
    policy.document,
    kept.map(({ path, text }) => ({ path, value: text })),
  );
  const filled = { ...policy, secrets: kept, document };
  // Through an alias, a secret could appear at a place that is not secret.
  const isSame = () => isDeepStrictEqual(readPolicyDocument(joinPolicy(filled)), document);
  return fits(filled) && (!policy.parsed.hasAliases || isSame()) ? filled : splitDocument(document, protocol);
}

const keyOf = ({ place, mask }: PolicySecret) => `${place} ${mask}`;

function matchingSecret({ index, mask }: PolicySecret, candidates: readonly PolicySecret[]): PolicySecret | undefined {
  const [only, ...others] = candidates;
  return (
    candidates.find((secret) => secret.index === index) ??
    (others.length === 0 && mask !== SECRET_MASK ? only : undefined)
  );
}
