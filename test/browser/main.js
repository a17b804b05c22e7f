// `npm run test:browser`: tests a real gateway in headless Chromium, and says that it was skipped if Chromium is not
// installed. `npm run test:browser -- graphiql`, or with the name of another journey, runs that one. `-- large [minutes]`
// runs the long test with many endpoints.

import { haveAccidents } from './journeys/accidents.js';
import { loseHalfOfFleet } from './journeys/alerts.js';
import { makeBackends } from './journeys/backends.js';
import { walkThroughDashboard } from './journeys/dashboard.js';
import { readReference } from './journeys/docs.js';
import { exploreSchema } from './journeys/graphiql.js';
import { watchManyEndpoints } from './journeys/many-endpoints.js';
import { signOperatorIn } from './journeys/operators.js';
import { usePasskey } from './journeys/passkey.js';
import { useSecondFactor } from './journeys/second-factor.js';
import { replayStolenCookie } from './journeys/stolen-cookie.js';
import { serveAddress } from './journeys/tcp.js';
import { followInThreeTabs } from './journeys/three-tabs.js';
import { signVisitorOut } from './journeys/visitors.js';
import { openChromium } from './support/chromium.js';
import { startGateway } from './support/gateway.js';

const usual = {
  graphiql: exploreSchema,
  docs: readReference,
  'three-tabs': followInThreeTabs,
  dashboard: walkThroughDashboard,
  accidents: haveAccidents,
  alerts: loseHalfOfFleet,
  'stolen-cookie': replayStolenCookie,
  tcp: serveAddress,
  backends: makeBackends,
  visitors: signVisitorOut,
  operators: signOperatorIn,
  'second-factor': useSecondFactor,
  passkey: usePasskey,
};
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
