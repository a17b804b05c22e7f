// `npm run test:browser`: tests a real gateway in headless Chromium, and says that it was skipped if Chromium is not
// installed. `npm run test:browser -- graphiql`, `-- dashboard` or `-- stolen-cookie` runs one journey. `-- large
// [minutes]` runs the long test with many endpoints.

import { walkThroughDashboard } from './journeys/dashboard.js';
import { exploreSchema } from './journeys/graphiql.js';
import { watchManyEndpoints } from './journeys/many-endpoints.js';
import { replayStolenCookie } from './journeys/stolen-cookie.js';
import { openChromium } from './support/chromium.js';
import { startGateway } from './support/gateway.js';

const usual = { graphiql: exploreSchema, dashboard: walkThroughDashboard, 'stolen-cookie': replayStolenCookie };
/** @type {Record<string, (browser: any, gateway: import('./support/gateway.js').RunningGateway) => Promise<void>>} */
const journeys = { ...usual, large: watchManyEndpoints };

const [name] = process.argv.slice(2);
const chosen = name === undefined ? Object.values(usual) : [journeys[name]];

const browser = await openChromium();
if (!browser) {
  process.stdout.write('Skipped: there is no Chromium here (Debian: apt-get install chromium; or set CHROMIUM)\n');
  process.exit(0);
}
try {
  for (const journey of chosen) {
    if (!journey) throw new Error(`there is no "${name}": ${Object.keys(journeys).join(', ')}`);
    const gateway = await startGateway(
      journey === watchManyEndpoints ? 'test/browser/support/many-endpoints-gateway.js' : undefined,
    );
    try {
      await journey(browser, gateway);
    } finally {
      await gateway.stop();
    }
  }
} catch (error) {
  process.stdout.write(`FAILED ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  await browser.close();
}
