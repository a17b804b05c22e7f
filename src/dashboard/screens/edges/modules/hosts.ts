// The edges and routes that have modules, and the mutations that change their modules.

import type { Operation } from '../../../data/client/operation.ts';
import { edgeRoutePath, objectPath } from '../../../data/routing/paths.ts';
import {
  UpdateHttpsEdge,
  UpdateHttpsEdgeRoute,
  UpdateTcpEdge,
  UpdateTlsEdge,
  unsetOperations,
} from '../../../generated/operations.ts';

export type HostKind = keyof typeof unsetOperations;

/** An edge or route that has modules. */
export interface ModuleHost {
  kind: HostKind;
  id: string;
  /** The id of the edge, for routes only. */
  edgeId?: string;
  /** A URL that a visitor could request there. */
  exampleUrl: string;
}

/** The variables that identify a host in an operation. */
export type HostVariables = Pick<ModuleHost, 'id' | 'edgeId'>;

export function hostVariables({ id, edgeId }: ModuleHost): HostVariables {
  return edgeId === undefined ? { id } : { id, edgeId };
}

export function hostPath({ kind, id, edgeId }: ModuleHost): string {
  return edgeId === undefined ? objectPath(kind, id) : edgeRoutePath(edgeId, id);
}

export const hostNouns: Record<HostKind, string> = {
  httpsEdge: 'edge',
  tlsEdge: 'edge',
  tcpEdge: 'edge',
  httpsEdgeRoute: 'route',
};

/** A mutation that changes modules. It replaces each module in the input as a whole. */
export type UpdateOperation = Operation<unknown, HostVariables & { input: object }>;
type UnsetOperation = Operation<unknown, HostVariables>;

// The operations have different inputs, and those of routes also take the id of the edge. The host passes the right
// ones, so the types are erased.
const update = (operation: unknown) => operation as UpdateOperation;

export const updateOperations: Record<HostKind, UpdateOperation> = {
  httpsEdge: update(UpdateHttpsEdge),
  tlsEdge: update(UpdateTlsEdge),
  tcpEdge: update(UpdateTcpEdge),
  httpsEdgeRoute: update(UpdateHttpsEdgeRoute),
};

/** The mutation that unsets the module of this field. */
export function unsetOperation(kind: HostKind, field: string): UnsetOperation {
  return (unsetOperations[kind] as Record<string, unknown>)[field] as UnsetOperation;
}
