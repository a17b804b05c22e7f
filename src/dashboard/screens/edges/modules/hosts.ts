// What modules belong to, and how they are changed there.

import type { Operation } from '../../../data/client/operation.ts';
import { edgeRoutePath, objectPath } from '../../../data/routing/paths.ts';
import {
  UpdateHttpsEdge,
  UpdateHttpsEdgeRoute,
  UpdateTlsEdge,
  unsetOperations,
} from '../../../generated/operations.ts';

export type HostKind = keyof typeof unsetOperations;

/** An edge or a route that has modules. */
export interface ModuleHost {
  kind: HostKind;
  id: string;
  /** The edge of a route. */
  edgeId?: string;
  /** What a visitor would ask for there, as far as it is known. */
  exampleUrl: string;
}

/** The variables that name a host to an operation. */
export type HostVariables = Pick<ModuleHost, 'id' | 'edgeId'>;

export function hostVariables({ id, edgeId }: ModuleHost): HostVariables {
  return edgeId === undefined ? { id } : { id, edgeId };
}

export function hostPath({ kind, id, edgeId }: ModuleHost): string {
  return edgeId === undefined ? objectPath(kind, id) : edgeRoutePath(edgeId, id);
}

export const hostNouns: Record<HostKind, string> = { httpsEdge: 'edge', tlsEdge: 'edge', httpsEdgeRoute: 'route' };

/** Changes modules of a host. Each that is given is replaced as a whole. */
export type UpdateOperation = Operation<unknown, HostVariables & { input: object }>;
type UnsetOperation = Operation<unknown, HostVariables>;

// An operation of routes also takes the id of the edge, and each takes the inputs of the modules of its host: the host
// says which, so that the types need not.
const update = (operation: unknown) => operation as UpdateOperation;

export const updateOperations: Record<HostKind, UpdateOperation> = {
  httpsEdge: update(UpdateHttpsEdge),
  tlsEdge: update(UpdateTlsEdge),
  httpsEdgeRoute: update(UpdateHttpsEdgeRoute),
};

/** The operation that unsets the module of this field. */
export function unsetOperation(kind: HostKind, field: string): UnsetOperation {
  return (unsetOperations[kind] as Record<string, unknown>)[field] as UnsetOperation;
}
