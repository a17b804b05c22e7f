// `npm run api-key`: creates a new admin key on the machine itself, for operators who have lost the first.
// `-- --ip-restriction-off` leaves the IP restriction for the API unenforced from then on, for who is locked out.

import { newAdminKey } from '../store/first-start.ts';
import { liftRestriction, RESTRICTION_OFF } from './lift-restriction.ts';
import { recordAct } from './record-act.ts';
import { runTool } from './run-tool.ts';
import { withStore } from './with-store.ts';

const TOOL = 'npm run api-key';

await runTool((...given) =>
  withStore(async ({ config, prisma, keys }) => {
    const admin = await prisma.owner.findFirst({
      where: { kind: 'USER', role: 'ADMIN', active: true },
      orderBy: { id: 'asc' },
    });
    if (!admin)
      throw new Error('There is no active admin yet: start the gateway once, it makes one and prints its key.');
    const key = await prisma.$transaction(async (tx) => {
      if (given.includes(RESTRICTION_OFF))
        await liftRestriction(tx, config, { accountId: admin.accountId, tool: TOOL }, 'API');
      const made = await newAdminKey(tx, keys, admin, `made by ${TOOL}`);
      const select = { id: true, ownerId: true, description: true } as const;
      const { id, ownerId, description } = await tx.apiKey.findUniqueOrThrow({
        where: { digest: keys.digest(made) },
        select,
      });
      const after = { id, owner_id: ownerId, description };
      const act = { action: 'CREATED', kind: 'apiKey', objectId: id, objectName: description, after } as const;
      await recordAct(tx, config, { accountId: admin.accountId, tool: TOOL }, act);
      return made;
    });
    process.stdout.write(`API key: ${key}\n`);
  }),
);
