// Conversion of targets between the API, which has a tree with one kind set, and a form, which has strings by their
// paths.

import type { EventTargetFactsFragment, EventTargetInput } from '../../../generated/operations.ts';
import {
  type AwsAuth,
  defaultKind,
  type TargetKind,
  type TargetMember,
  targetKindForm,
  targetKindNames,
} from './targets.ts';

/** The values of the form by their paths in the input: `target.webhook.url`. */
export type TargetValues = Record<string, string>;

export interface TargetFormState {
  kind: TargetKind;
  awsAuth: AwsAuth;
  values: TargetValues;
}

export function fieldName(kind: TargetKind, { path }: TargetMember): string {
  return `target.${kind}.${path}`;
}

/** The members that the form shows. */
export function visibleMembers({ kind, awsAuth }: TargetFormState): readonly TargetMember[] {
  return targetKindForm(kind).members.filter((member) => member.awsAuth === undefined || member.awsAuth === awsAuth);
}

export function hasAwsAuth(kind: TargetKind): boolean {
  return targetKindForm(kind).members.some(({ awsAuth }) => awsAuth !== undefined);
}

export function targetToForm(target?: EventTargetFactsFragment): TargetFormState {
  const kind = (target && targetKind(target)) ?? defaultKind;
  const members = target ? targetKindForm(kind).members : [];
  const shown = members.map((member) => [fieldName(kind, member), textAt(target, kind, member.path)] as const);
  const awsAuth = textAt(target, kind, 'auth.creds.awsAccessKeyId') === '' ? 'role' : 'creds';
  return { kind, awsAuth, values: Object.fromEntries(shown) };
}

export function formToTarget(choice: TargetFormState): EventTargetInput {
  const tree: Record<string, unknown> = {};
  for (const member of visibleMembers(choice)) {
    const text = (choice.values[fieldName(choice.kind, member)] ?? '').trim();
    if (text !== '') setAtPath(tree, member.path.split('.'), member.isList ? parsePairs(text) : text);
  }
  return { [choice.kind]: tree };
}

/** The state of the form without secrets, for a draft. */
export function targetWithoutSecrets(choice: TargetFormState): TargetFormState {
  const secrets = new Set(
    targetKindNames.flatMap((kind) =>
      targetKindForm(kind)
        .members.filter(({ isSecret, isList }) => isSecret || isList)
        .map((member) => fieldName(kind, member)),
    ),
  );
  const kept = Object.entries(choice.values).filter(([name]) => !secrets.has(name));
  return { ...choice, values: Object.fromEntries(kept) };
}

/** The state of the form in a few lines. Secrets are only named. */
export function targetInWords(choice: TargetFormState): string {
  const lines = visibleMembers(choice).flatMap((member) => {
    const value = choice.values[fieldName(choice.kind, member)] ?? '';
    return value === '' ? [] : [`${member.label}: ${member.isSecret ? 'another one' : value}`];
  });
  return [targetKindForm(choice.kind).title, ...lines].join('\n');
}

export function targetKind(target: EventTargetFactsFragment): TargetKind | undefined {
  return targetKindNames.find((kind) => target[kind]);
}

/** The members of a target with the labels of the form. */
export function targetDetails(target: EventTargetFactsFragment): { name: string; value: string }[] {
  const kind = targetKind(target);
  if (!kind) return [];
  const { members } = targetKindForm(kind);
  const shown = members.map((member) => ({ name: member.label, value: textAt(target, kind, member.path) }));
  return shown.filter(({ value }) => value !== '');
}

/** A target in one line: `Webhook: https://…`. */
export function targetText(target: EventTargetFactsFragment): string {
  const kind = targetKind(target);
  if (!kind) return 'nowhere';
  const { title, main } = targetKindForm(kind);
  return `${title}: ${textAt(target, kind, main)}`;
}

function textAt(target: EventTargetFactsFragment | undefined, kind: TargetKind, path: string): string {
  let node: unknown = target?.[kind];
  for (const name of path.split('.')) node = (node as Record<string, unknown> | null | undefined)?.[name];
  if (Array.isArray(node)) return node.map(formatPair).join('\n');
  return typeof node === 'string' ? node : '';
}

interface Pair {
  name: string;
  /** Null or missing for a secret that stays as it is. */
  value?: string | null;
}

function formatPair({ name, value }: Pair): string {
  return `${name}: ${value ?? ''}`;
}

/** Parses lines of `name: value`. */
function parsePairs(lines: string): Pair[] {
  return lines.split('\n').flatMap((line) => {
    const [, name = '', value = ''] = /^([^:]+):(.*)$/.exec(line) ?? [];
    if (name.trim() === '') return [];
    return value.trim() === '' ? { name: name.trim() } : { name: name.trim(), value: value.trim() };
  });
}

function setAtPath(tree: Record<string, unknown>, [name = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) {
    tree[name] = value;
    return;
  }
  const below = (tree[name] ?? {}) as Record<string, unknown>;
  tree[name] = below;
  setAtPath(below, rest, value);
}
