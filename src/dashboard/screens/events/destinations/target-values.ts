// A target between the API, where it is a tree with one kind set, and a form, where it is texts by their paths.

import type { EventTargetFactsFragment, EventTargetInput } from '../../../generated/operations.ts';
import {
  type AwsAuth,
  defaultKind,
  type TargetKind,
  type TargetMember,
  targetKindForm,
  targetKindNames,
} from './targets.ts';

/** The texts of a form, each by its path in the input: `target.webhook.url`. */
export type TargetValues = Record<string, string>;

export interface TargetFormState {
  kind: TargetKind;
  awsAuth: AwsAuth;
  values: TargetValues;
}

export function fieldName(kind: TargetKind, { path }: TargetMember): string {
  return `target.${kind}.${path}`;
}

/** The members that are asked for. */
export function visibleMembers({ kind, awsAuth: proof }: TargetFormState): readonly TargetMember[] {
  return targetKindForm(kind).members.filter((member) => member.awsAuth === undefined || member.awsAuth === proof);
}

export function hasAwsAuth(kind: TargetKind): boolean {
  return targetKindForm(kind).members.some(({ awsAuth: proof }) => proof !== undefined);
}

export function targetToForm(target?: EventTargetFactsFragment): TargetFormState {
  const kind = (target && targetKind(target)) ?? defaultKind;
  const members = target ? targetKindForm(kind).members : [];
  const shown = members.map((member) => [fieldName(kind, member), textAt(target, kind, member.path)] as const);
  const proof = textAt(target, kind, 'auth.creds.awsAccessKeyId') === '' ? 'role' : 'creds';
  return { kind, awsAuth: proof, values: Object.fromEntries(shown) };
}

export function formToTarget(choice: TargetFormState): EventTargetInput {
  const tree: Record<string, unknown> = {};
  for (const member of visibleMembers(choice)) {
    const text = (choice.values[fieldName(choice.kind, member)] ?? '').trim();
    if (text !== '') setAtPath(tree, member.path.split('.'), member.isList ? parsePairs(text) : text);
  }
  return { [choice.kind]: tree };
}

export function targetKind(target: EventTargetFactsFragment): TargetKind | undefined {
  return targetKindNames.find((kind) => target[kind]);
}

/** What is known of a target, by the words of the form. */
export function targetDetails(target: EventTargetFactsFragment): { name: string; value: string }[] {
  const kind = targetKind(target);
  if (!kind) return [];
  const { members } = targetKindForm(kind);
  const shown = members.map((member) => ({ name: member.label, value: textAt(target, kind, member.path) }));
  return shown.filter(({ value }) => value !== '');
}

/** A target on one line: `Webhook: https://…`. */
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
  /** Null or absent for a secret that stays as it is. */
  value?: string | null;
}

function formatPair({ name, value }: Pair): string {
  return `${name}: ${value ?? ''}`;
}

/** Of lines as `name: value`. */
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
