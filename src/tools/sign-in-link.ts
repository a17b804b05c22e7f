// `npm run sign-in-link`: creates a sign-in link on the machine itself, for an admin who has forgotten the password and whom no other
// admin can help.

import { createSignInLink } from '../store/sign-in/links.ts';
import { recordAct } from './record-act.ts';
import { runTool } from './run-tool.ts';
import { withStore } from './with-store.ts';

await runTool((email) =>
  withStore(async ({ config, prisma, keys }) => {
    const users = await prisma.owner.findMany({
      where: { kind: 'USER', active: true, ...(email === undefined ? { role: 'ADMIN' } : { subject: email }) },
      orderBy: { id: 'asc' },
      // An e-mail address may be that of one user in each account.
      ...(email === undefined ? { take: 1 } : {}),
      select: { id: true, subject: true, accountId: true },
    });
    if (users.length === 0)
      throw new Error(
        email === undefined
          ? 'There is no active admin yet: start the gateway once, it makes one and prints a link.'
          : `No active user has the e-mail address ${email}; give it as the dashboard shows it.`,
      );
    const { publicApiUrl, apiTls, apiPort } = config;
    const base = publicApiUrl ?? `${apiTls ? 'https' : 'http'}://127.0.0.1:${apiPort}`;
    for (const { id, subject, accountId } of users) {
      const { token, expiresAt } = await prisma.$transaction(async (tx) => {
        const act = { action: 'SIGN_IN_LINK_CREATED', kind: 'user', objectId: id, objectName: subject } as const;
        await recordAct(tx, config, { accountId, tool: 'npm run sign-in-link' }, act);
        return createSignInLink(tx, keys, id, Date.now());
      });
      process.stdout.write(
        `${subject} of account ${accountId} can set a password, once, until ${expiresAt.toISOString()}:\n` +
          `${base}/dashboard/sign-in#${token}\n`,
      );
    }
  }),
);
