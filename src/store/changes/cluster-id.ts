// The id of the gateways that share a database, by which their messages differ from those of others on the same bus.

import type { PrismaClient } from '../database/client.ts';
import { newId } from '../ids.ts';

const SETTING = 'cluster_id';

/** Reads the id. It is made once, by the first gateway that asks. */
export async function readClusterId(prisma: PrismaClient): Promise<string> {
  await prisma.$executeRaw`
    INSERT INTO setting (name, value) VALUES (${SETTING}, ${newId('cluster')}) ON CONFLICT (name) DO NOTHING`;
  const { value } = await prisma.setting.findUniqueOrThrow({ where: { name: SETTING } });
  return value;
}
