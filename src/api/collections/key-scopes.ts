// Scopes of API keys: what a key may do of that which its owner may.

import type { OperationTypeNode } from 'graphql';
import type { Context } from '../context.ts';
import { ApiError } from '../errors/errors.ts';
import { snakeCase } from '../naming.ts';
import { registeredResources } from './nodes.ts';

/** Whoever may change these could give itself more than its scopes. */
const NEVER_WRITTEN = new Set(['apiKey', 'user', 'bulkJob']);
const SCOPES_MAX = 50;
const SCOPE = /^([a-z_]+):(read|write)(?::([A-Za-z0-9_]{1,64}))?$/;

/** Scopes of what is no reading and no writing of an object. */
const OWN_SCOPES = ['policy:try'] as const;
export type OwnScope = (typeof OWN_SCOPES)[number];

/** What a root field needs. */
export interface NeededScope {
  isRead: boolean;
  /** The kind of object that it is about; undefined when that is none, or not one alone. */
  kind: string | undefined;
}

/** Finds what a root field needs, by its name: `reservedDomains`, `updateReservedDomain`, `reservedDomainChanged`. */
export function neededScope(type: `${OperationTypeNode}`, field: string): NeededScope {
  const isRead = type !== 'mutation';
  // A mutation begins with a verb: what follows is the kind, and maybe a part of it.
  const subject = isRead ? field : field.replace(/^[a-z]+/, '');
  const names = registeredResources().flatMap(({ kind, alsoCalled = [] }) =>
    [kind, ...alsoCalled].map((name) => ({ kind, name })),
  );
  const named = names.filter(({ name }) =>
    isNamedIn(isRead ? name : name.charAt(0).toUpperCase() + name.slice(1), subject),
  );
  const [{ kind } = { kind: undefined }] = named.sort((a, b) => b.name.length - a.name.length);
  return { isRead, kind: !isRead && kind !== undefined && NEVER_WRITTEN.has(kind) ? undefined : kind };
}

/** Whether a name begins with a kind, as a word of its own or in the plural. */
function isNamedIn(kind: string, subject: string): boolean {
  const rest = subject.startsWith(kind) ? subject.slice(kind.length) : undefined;
  const plural = kind.endsWith('y') && subject.startsWith(`${kind.slice(0, -1)}ies`);
  return plural || (rest !== undefined && /^(?:s|es)?(?:[A-Z].*)?$/.test(rest));
}

/** @throws {ApiError} when the key that the caller has come with may not do that. */
export function checkScope({ caller }: Context, needed: NeededScope, args: Readonly<Record<string, unknown>>): void {
  const { scopes = [] } = caller;
  if (scopes.length === 0 || scopes.some((scope) => allowsOperation(scope, needed, args.id))) return;
  throw new ApiError('scopeMissing', { scope: scopeOf(needed) });
}

/** Whether the key that the caller has come with was given this scope. */
export function hasOwnScope({ caller }: Context, scope: OwnScope | undefined): boolean {
  return scope !== undefined && caller.scopes?.includes(scope) === true;
}

/** @throws {ApiError} when the key that the caller has come with has scopes, and this is none of them. */
export function checkOwnScope(context: Context, scope: OwnScope): void {
  const { scopes = [] } = context.caller;
  if (scopes.length > 0 && !hasOwnScope(context, scope)) throw new ApiError('scopeMissing', { scope: `"${scope}"` });
}

function allowsOperation(scope: string, { isRead, kind }: NeededScope, id: unknown): boolean {
  if (scope === 'read') return isRead;
  const [, resource, access, only] = SCOPE.exec(scope) ?? [];
  return (
    kind !== undefined &&
    resource === snakeCase(kind) &&
    (isRead || access === 'write') &&
    (only === undefined || only === id)
  );
}

function scopeOf({ isRead, kind }: NeededScope): string {
  if (kind === undefined) return isRead ? '"read"' : 'none: a key without scopes';
  return `"${snakeCase(kind)}:${isRead ? 'read' : 'write'}"`;
}

/**
 * The scopes that a key is to have.
 * @throws {ApiError} naming the first that is none.
 */
export function readScopes(scopes: readonly string[]): string[] {
  if (scopes.length > SCOPES_MAX) throw new ApiError('tooManyScopes', { member: 'scopes', max: SCOPES_MAX });
  const kinds = new Map(registeredResources().map(({ kind }) => [snakeCase(kind), kind]));
  scopes.forEach((scope, index) => {
    if (scope === 'read' || OWN_SCOPES.some((own) => own === scope)) return;
    const [, resource = '', access] = SCOPE.exec(scope) ?? [];
    const kind = kinds.get(resource);
    if (kind === undefined || (access === 'write' && NEVER_WRITTEN.has(kind)))
      throw new ApiError('badScope', { member: `scopes[${index}]` });
  });
  return [...new Set(scopes)];
}
