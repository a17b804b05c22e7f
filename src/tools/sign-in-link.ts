// `npm run sign-in-link`: creates a sign-in link on the machine itself, for an admin who has forgotten the password and whom no other
// admin can help. `-- --second-factor-off` turns the user's second factor off beside it, `-- --ip-restriction-off` leaves the
// IP restriction for the dashboard unenforced.

import { commandLine } from '../process/command-line.ts';
import { createSignInLink } from '../store/sign-in/links.ts';
import { hasSecondFactor, removeSecondFactor } from '../store/sign-in/second-factors.ts';
import { liftRestriction, RESTRICTION_OFF } from './lift-restriction.ts';
import { recordAct } from './record-act.ts';
import { runTool } from './run-tool.ts';
import { withStore } from './with-store.ts';

const SECOND_FACTOR_OFF = '--second-factor-off';

await runTool((...given) =>
  withStore(async ({ config, prisma, keys }) => {
    const email = given.find((argument) => argument !== SECOND_FACTOR_OFF && argument !== RESTRICTION_OFF);
    const turnsOff = given.includes(SECOND_FACTOR_OFF);
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
        const by = { accountId, tool: 'npm run sign-in-link' };
        if (given.includes(RESTRICTION_OFF)) await liftRestriction(tx, config, by, 'DASHBOARD');
        const user = { kind: 'user', objectId: id, objectName: subject };
        if (turnsOff && (await removeSecondFactor(tx, id)))
          await recordAct(tx, config, by, { ...user, action: 'SECOND_FACTOR_OFF' });
        await recordAct(tx, config, by, { ...user, action: 'SIGN_IN_LINK_CREATED' });
        return createSignInLink(tx, keys, id, Date.now());
      });
      process.stdout.write(
        `${subject} of account ${accountId} can set a password, once, until ${expiresAt.toISOString()}:\n` +
          `${base}/dashboard/sign-in#${token}\n`,
      );
      if (await hasSecondFactor(prisma, id))
        process.stdout.write(
          `It asks for a code of the second factor. To turn that off: ${commandLine('sign-in-link', subject, SECOND_FACTOR_OFF)}\n`,
        );
    }
  }),
);
