// The databases of addresses that the operator provides.

import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import type { ModuleEnvironment } from '../../http/module.ts';
import { openGeoDatabases } from '../../net/geo-databases.ts';
import type { Lifecycle } from '../lifecycle.ts';

/** Reads them, if there are any. @throws {Error} naming the variable and the file that cannot be read. */
export async function startGeoDatabases(
  parts: Lifecycle,
  { geoDatabase }: Pick<Config, 'geoDatabase'>,
  log: Logger,
): Promise<ModuleEnvironment['locate']> {
  if (geoDatabase.length === 0) return undefined;
  const databases = await parts.start({
    name: 'databases of addresses',
    start: () =>
      openGeoDatabases(geoDatabase, log).catch((error: Error) => {
        throw new Error(`GEO_DATABASE: ${error.message}`);
      }),
    stop: (databases) => databases.close(),
  });
  return databases.find.bind(databases);
}
