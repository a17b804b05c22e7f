// The dependencies and settings that the parts of the registrar share.

import type { Changes } from '../changes/changes.ts';
import type { PrismaClient } from '../database/client.ts';
import type { Ingress } from '../events/live-objects.ts';
import type { Keys } from '../keys/keys.ts';
import type { NodeLease } from '../node-lease.ts';

export interface RegistrarSettings {
  /** The region that endpoints, tunnels and sessions show. */
  region: string;
  /** The domain below which agents may bind names without a reservation. */
  baseDomain: string;
  /** Zones that the gateway itself needs. Agents cannot bind names in them. */
  cnameDomain: string;
  acmeDomain: string;
  /** How other nodes reach this one; undefined: visitors are not forwarded to other nodes. */
  nodeLink: object | undefined;
  /** The most routes that are kept in memory; left out, as many as suit a node of a cluster. Each node of a machine has its own. */
  routesMax?: number | undefined;
  /** How many days the audit trail is kept; 0: nothing is. */
  auditDays: number;
  /** How long the addresses of a lost session are held for its credential, in milliseconds. */
  sessionHold: number;
}

export interface RegistrarDeps {
  prisma: PrismaClient;
  changes: Changes;
  keys: Keys;
  node: NodeLease;
  settings: RegistrarSettings;
  /** The sessions that the node has already, by id, with where their agents connected; left out for a node that starts. */
  adopted?: ReadonlyMap<string, Ingress>;
  /** The URL that the URIs in events begin with, without a slash at its end. */
  baseUrl(): string;
  /** The wall clock, in milliseconds. */
  now(): number;
}

export type { Announce } from '../changes/changes.ts';
