// Stores what processes have counted.

import type { TrafficStatsStore } from '../../edge/metrics/traffic-stats-store.ts';
import type { PrismaClient } from '../database/client.ts';
import { insertion } from './traffic-rows.ts';

/** The length of the buckets that processes count in, in seconds. */
const RESOLUTION = 10;

export function trafficStatsStore(prisma: PrismaClient): TrafficStatsStore {
  return {
    async append({ writer, at, deltas }) {
      const start = new Date(at);
      return prisma.$transaction(async (tx) => {
        // The lock keeps minutes from being summed up meanwhile: no row comes after its sum.
        const [task] = await tx.$queryRaw<{ isOver: boolean }[]>`
          SELECT until > ${start} AS "isOver" FROM traffic_task WHERE name = 'minutes' FOR SHARE`;
        if (task?.isOver) return false;
        await tx.$executeRaw(insertion({ resolution: RESOLUTION, at, writer }, deltas));
        return true;
      });
    },
  };
}
