// A target between the API, where it is a tree with one kind set, and a form, where it is texts by their paths.

import type { EventTargetFactsFragment, EventTargetInput } from '../../../generated/operations.ts';
import { factsOf, firstKind, type Kind, kindNames, type Member, type Proof } from './targets.ts';

/** The texts of a form, each by its path in the input: `target.webhook.url`. */
export type TargetValues = Record<string, string>;

export interface TargetChoice {
  kind: Kind;
  proof: Proof;
  values: TargetValues;
}

export function nameOf(kind: Kind, { path }: Member): string {
  return `target.${kind}.${path}`;
}

/** The members that are asked for. */
export function membersOf({ kind, proof }: TargetChoice): readonly Member[] {
  return factsOf(kind).members.filter((member) => member.proof === undefined || member.proof === proof);
}

export function asksForProof(kind: Kind): boolean {
  return factsOf(kind).members.some(({ proof }) => proof !== undefined);
}

export function choiceIn(target?: EventTargetFactsFragment): TargetChoice {
  const kind = (target && kindIn(target)) ?? firstKind;
  const members = target ? factsOf(kind).members : [];
  const shown = members.map((member) => [nameOf(kind, member), textAt(target, kind, member.path)] as const);
  const proof = textAt(target, kind, 'auth.creds.awsAccessKeyId') === '' ? 'role' : 'creds';
  return { kind, proof, values: Object.fromEntries(shown) };
}

export function inputOf(choice: TargetChoice): EventTargetInput {
  const tree: Record<string, unknown> = {};
  for (const member of membersOf(choice)) {
    const text = (choice.values[nameOf(choice.kind, member)] ?? '').trim();
    if (text !== '') put(tree, member.path.split('.'), member.isList ? pairsIn(text) : text);
  }
  return { [choice.kind]: tree };
}

export function kindIn(target: EventTargetFactsFragment): Kind | undefined {
  return kindNames.find((kind) => target[kind]);
}

/** What is known of a target, by the words of the form. */
export function targetFacts(target: EventTargetFactsFragment): { name: string; value: string }[] {
  const kind = kindIn(target);
  if (!kind) return [];
  const { members } = factsOf(kind);
  const shown = members.map((member) => ({ name: member.label, value: textAt(target, kind, member.path) }));
  return shown.filter(({ value }) => value !== '');
}

/** A target on one line: `Webhook: https://…`. */
export function targetText(target: EventTargetFactsFragment): string {
  const kind = kindIn(target);
  if (!kind) return 'nowhere';
  const { title, main } = factsOf(kind);
  return `${title}: ${textAt(target, kind, main)}`;
}

function textAt(target: EventTargetFactsFragment | undefined, kind: Kind, path: string): string {
  let place: unknown = target?.[kind];
  for (const name of path.split('.')) place = (place as Record<string, unknown> | null | undefined)?.[name];
  if (Array.isArray(place)) return place.map(lineOf).join('\n');
  return typeof place === 'string' ? place : '';
}

interface Pair {
  name: string;
  /** Null or absent for a secret that stays as it is. */
  value?: string | null;
}

function lineOf({ name, value }: Pair): string {
  return `${name}: ${value ?? ''}`;
}

/** Of lines as `name: value`. */
function pairsIn(lines: string): Pair[] {
  return lines.split('\n').flatMap((line) => {
    const [, name = '', value = ''] = /^([^:]+):(.*)$/.exec(line) ?? [];
    if (name.trim() === '') return [];
    return value.trim() === '' ? { name: name.trim() } : { name: name.trim(), value: value.trim() };
  });
}

function put(tree: Record<string, unknown>, [name = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) {
    tree[name] = value;
    return;
  }
  const below = (tree[name] ?? {}) as Record<string, unknown>;
  tree[name] = below;
  put(below, rest, value);
}
