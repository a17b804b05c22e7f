// How many alerts fire, of all accounts, for the operator's metrics.

import type { PrismaClient } from '../database/client.ts';

export async function firingAlerts(prisma: PrismaClient): Promise<Record<'info' | 'warning' | 'critical', number>> {
  const groups = await prisma.alert.groupBy({ by: ['severity'], where: { state: 'FIRING' }, _count: true });
  const of = (severity: string) => groups.find((group) => group.severity === severity)?._count ?? 0;
  return { info: of('INFO'), warning: of('WARNING'), critical: of('CRITICAL') };
}
