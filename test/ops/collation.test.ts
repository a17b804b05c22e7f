import { expect, test } from 'vitest';
import { onServer, startTestGateway } from '../support/gateway/gateway.ts';
import { makeThousand, pagesByGraphql, pagesByRest } from '../support/gateway/paging.ts';
import { newPlace, onMaintenance } from '../support/gateway/place.ts';

/** A language's order of letters, as the server has it: of the C library or of ICU. */
async function languageOrder(): Promise<string> {
  const { rows } = await onMaintenance(`SELECT 1 FROM pg_collation WHERE collname = 'en_US.utf8'`);
  return rows.length > 0 ? `LOCALE 'en_US.utf8'` : `LOCALE 'C.UTF-8' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`;
}

test.runIf(onServer)('ids are in their order also in a database that sorts like a dictionary', async () => {
  const place = await newPlace({ creation: `TEMPLATE template0 ENCODING 'UTF8' ${await languageOrder()}` });
  const gateway = await startTestGateway({}, { place });
  try {
    const [{ sorts } = {}] = await gateway.app.prisma.$queryRaw<{ sorts: boolean }[]>`SELECT 'a' < 'B' AS sorts`;
    expect(sorts, 'the database sorts like a dictionary').toBe(true);
    const account = await gateway.newAccount();
    const ids = await makeThousand(gateway, account);
    expect((await pagesByRest(account, 100)).flat()).toEqual(ids);
    expect((await pagesByGraphql(account, 77, true)).toReversed().flat()).toEqual(ids);
  } finally {
    await gateway.close();
    await place.remove();
  }
});
