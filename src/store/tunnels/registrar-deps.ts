// What the parts of the registrar share.

import type { Changes } from '../changes/changes.ts';
import type { PrismaClient } from '../database/client.ts';
import type { Keys } from '../keys/keys.ts';
import type { NodeLease } from '../node-lease.ts';

export interface RegistrarSettings {
  /** What endpoints, tunnels and sessions show as their region. */
  region: string;
  /** Names below it are the gateway's own to give. */
  baseDomain: string;
  /** Zones that the gateway needs itself: nobody may bind a name there. */
  cnameDomain: string;
  acmeDomain: string;
  /** How long the addresses of a lost session stay reserved for its credential; milliseconds. */
  sessionHold: number;
}

export interface RegistrarDeps {
  prisma: PrismaClient;
  changes: Changes;
  keys: Keys;
  node: NodeLease;
  settings: RegistrarSettings;
  /** What the URIs in events begin with: no slash at its end. */
  baseUrl(): string;
}

export type { Announce } from '../events/audit.ts';
