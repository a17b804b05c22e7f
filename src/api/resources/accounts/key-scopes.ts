// The scopes that an API key may be given. What each allows is in builder/root-fields.ts.

import { KINDS_NEVER_WRITTEN, OWN_SCOPES, SCOPE } from '../../builder/root-fields.ts';
import { registeredResources } from '../../collections/nodes.ts';
import { ApiError } from '../../errors/errors.ts';
import { snakeCase } from '../../naming.ts';

const SCOPES_MAX = 50;

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
    if (kind === undefined || (access === 'write' && KINDS_NEVER_WRITTEN.has(kind)))
      throw new ApiError('badScope', { member: `scopes[${index}]` });
  });
  return [...new Set(scopes)];
}
