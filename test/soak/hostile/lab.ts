// A gateway in a process of its own with three accounts: one whose clients are honest, and two of attackers.

import { newPlace } from '../../support/gateway/place.ts';
import { startProcess } from '../../support/gateway/process.ts';
import { openWorld, residentMemory, type World } from '../../support/load/honest-world.ts';
import type { Target } from './attack.ts';

export interface Lab extends World {
  target: Target;
  /** Resident memory of the gateway now, in MB. */
  memory(): number;
}

export async function openLab(env: Record<string, string> = {}): Promise<Lab> {
  const place = await newPlace();
  const world = await openWorld(place, (key) => startProcess({ LOG_LEVEL: 'warn', ...env }, place, key));
  const { gateway, target, tenant, rival } = world;
  return {
    ...world,
    target: { ...target, pid: gateway.pid, tenant, rival, baseDomain: 'tunnel.localhost' },
    memory: () => residentMemory(gateway.pid),
    async close() {
      await world.close();
      await gateway.kill('SIGTERM');
      await place.remove();
    },
  };
}
