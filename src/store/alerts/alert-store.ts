// The store of alerts. All times are the database's, so that the clocks of nodes need not agree.

import type { AlertStore } from '../../alerts/alert-store.ts';
import type { Changes } from '../changes/changes.ts';
import type { PrismaClient } from '../database/client.ts';
import { type Clock, nowOf } from '../events/clock.ts';
import { applyDecision } from './apply-decision.ts';
import { findSubjects } from './findings.ts';
import { sweepAlerts } from './retention.ts';
import { ruleStates } from './rule-states.ts';

export interface AlertStoreParts extends Clock {
  prisma: PrismaClient;
  changes: Changes;
  nodeId: string;
  /** The URL that links begin with, without a slash at its end. */
  baseUrl(): string;
}

export function alertStore(parts: AlertStoreParts): AlertStore {
  const { prisma, changes, nodeId, baseUrl } = parts;
  return {
    rules: () => ruleStates(prisma, nowOf(parts)),
    find: (condition) => findSubjects(prisma, condition, nowOf(parts)),
    apply: (rule, finding, decision, at) =>
      changes.transaction(prisma, (db, announce) =>
        applyDecision({ db, announce, baseUrl: baseUrl() }, rule, finding, decision, at),
      ),
    sweep: (at) => changes.transaction(prisma, (db, announce) => sweepAlerts({ db, announce }, at)),

    // By the database's own clock, as the leases of nodes are.
    async lease(ms) {
      const rows = await prisma.$queryRaw<unknown[]>`
        INSERT INTO alert_evaluator AS e (id, node_id, lease_until)
        VALUES (1, ${nodeId}, now() + ${ms} * interval '1 millisecond')
        ON CONFLICT (id) DO UPDATE SET node_id = EXCLUDED.node_id, lease_until = EXCLUDED.lease_until
        WHERE e.node_id = EXCLUDED.node_id OR e.lease_until < now()
          OR NOT EXISTS (SELECT 1 FROM node n WHERE n.id = e.node_id AND n.lease_until > now())
        RETURNING id`;
      return rows.length > 0;
    },
  };
}
