// The secrets of a policy apart from its text: in the text that is kept and shown, a mask stands for each.

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

/** Entries of a list of secrets that are looked at: more than any action takes. */
const LIST_MAX = 100;

const isBeyond = ({ path }: FoundSecret) => Number(path[6] ?? 0) >= LIST_MAX;

/** A secret, and where its mask stands in the text. */
export interface PolicySecret {
  text: string;
  /** Where the mask begins in the text, and how long it is, quotes included; in UTF-16 units. */
  at: number;
  length: number;
  /** What has to be the same of another policy that keeps the secret. */
  place: string;
  /** Of a list, where it stands there; else 0. */
  index: number;
  /** What is shown of it, the mask included. */
  mask: string;
}

/** A policy whose secrets were taken out of its text. */
export interface SplitPolicy {
  /** The text, with masks. */
  value: string;
  /** In the order of their masks; some may share one, by an alias. */
  secrets: readonly (PolicySecret & { path: readonly (string | number)[] })[];
  /** What the policy says, secrets in clear. */
  document: unknown;
  /** How its text was read. */
  parsed: PolicyText;
}

/**
 * Takes the secrets out of a policy in JSON or YAML. The text stays as it is but for them, unless it cannot: then it becomes
 * that of the document in JSON, as where an object has a member twice, or masks make the text longer than one may be.
 * @throws {PolicyError} when the text is neither.
 */
export function splitPolicy(text: string, protocol: PolicyProtocol): SplitPolicy {
  const parsed = parsePolicyText(text);
  const { document } = parsed;
  // What is not well formed is for whoever compiles it to tell; it may be nested too deep to be walked.
  const secrets = checkPolicy(document, protocol).length === 0 ? findSecrets(document) : [];
  if (secrets.length === 0 || secrets.some(isBeyond)) return { value: text, secrets: [], document, parsed };
  const split = splitText(text, parsed, protocol);
  const isShown = split && (!parsed.hasAliases || isReadable(split.value));
  return isShown && fits(split) ? split : splitDocument(document, protocol);
}

function splitDocument(document: unknown, protocol: PolicyProtocol): SplitPolicy {
  const json = JSON.stringify(document);
  return splitText(json, parsePolicyText(json), protocol) as SplitPolicy; // There, each is written in its place alone.
}

/** Undefined where a secret has no place of its own, or would have to be shown in two ways. */
function splitText(text: string, parsed: PolicyText, protocol: PolicyProtocol): SplitPolicy | undefined {
  const { document, rangeOf } = parsed;
  const found: { secret: FoundSecret; mask: string; from: number; to: number }[] = [];
  const masks = new Map<number, string>();
  for (const secret of findSecrets(document)) {
    if (typeof secret.value !== 'string') continue; // Whoever compiles the policy refuses it.
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
      // A block of lines ends with the end of its last line.
      value += text[to - 1] === '\n' ? `${written}\n` : written;
      end = to;
    }
    const { path, value: own } = secret;
    const place = placeOf(secret, protocol);
    secrets.push({ text: own as string, at, length: written.length, place, index: Number(path[6] ?? 0), mask, path });
  }
  return { value: value + text.slice(end), secrets, document, parsed };
}

/** In JSON, which is YAML, too. */
const quoted = (text: string) => JSON.stringify(text);

/** Both as it is shown and as it is used. */
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

/** The policy in one text again, its secrets in clear. */
export function joinPolicy({
  value,
  secrets,
}: {
  value: string;
  secrets: readonly Pick<PolicySecret, 'text' | 'at' | 'length'>[];
}): string {
  let [text, end] = ['', 0];
  for (const { text: secret, at, length } of secrets) {
    if (at < end) continue; // It shares a mask with the one before.
    text += value.slice(end, at) + quoted(secret);
    end = at + length;
  }
  return text + value.slice(end);
}

/**
 * Puts the secrets of another policy in place of masks: those of an action of the same type at the same place. In a list,
 * one that is told by what is shown of it may have moved. Other masks stay, and such a policy cannot be used.
 */
export function keepSecrets(
  policy: SplitPolicy,
  stored: readonly PolicySecret[],
  protocol: PolicyProtocol,
): SplitPolicy {
  const known = new Map<string, PolicySecret[]>();
  for (const secret of stored) known.set(keyOf(secret), [...(known.get(keyOf(secret)) ?? []), secret]);
  const kept = policy.secrets.map((secret) => {
    const before = secret.text === secret.mask ? meant(secret, known.get(keyOf(secret)) ?? []) : undefined;
    return before ? { ...secret, text: before.text } : secret;
  });
  if (kept.every(({ text }, i) => text === policy.secrets[i]?.text)) return policy;
  const document = withValuesAt(
    policy.document,
    kept.map(({ path, text }) => ({ path, value: text })),
  );
  const filled = { ...policy, secrets: kept, document };
  // By an alias, a secret could come to where everybody can read it.
  const isSame = () => isDeepStrictEqual(readPolicyDocument(joinPolicy(filled)), document);
  return fits(filled) && (!policy.parsed.hasAliases || isSame()) ? filled : splitDocument(document, protocol);
}

const keyOf = ({ place, mask }: PolicySecret) => `${place} ${mask}`;

function meant({ index, mask }: PolicySecret, alike: readonly PolicySecret[]): PolicySecret | undefined {
  const [only, ...others] = alike;
  return (
    alike.find((secret) => secret.index === index) ?? (others.length === 0 && mask !== SECRET_MASK ? only : undefined)
  );
}
