// `npm run test:browser`: a real gateway in headless Chromium. Says that it was skipped where there is no Chromium.
// `npm run test:browser -- graphiql`, `-- dashboard`, `-- thief`: one of them alone. `-- large [minutes]`: many endpoints, long.

import { openChromium } from './chromium.js';
import { walkDashboard } from './dashboard.js';
import { startGateway } from './gateway.js';
import { exploreSchema } from './graphiql.js';
import { watchMany } from './large.js';
import { meetThief } from './thief.js';

const usual = { graphiql: exploreSchema, dashboard: walkDashboard, thief: meetThief };
/** @type {Record<string, (browser: any, gateway: import('./gateway.js').RunningGateway) => Promise<void>>} */
const walks = { ...usual, large: watchMany };

const [name] = process.argv.slice(2);
const chosen = name === undefined ? Object.values(usual) : [walks[name]];

const browser = await openChromium();
if (!browser) {
  process.stdout.write('Skipped: there is no Chromium here (Debian: apt-get install chromium; or set CHROMIUM)\n');
  process.exit(0);
}
try {
  for (const walk of chosen) {
    if (!walk) throw new Error(`there is no "${name}": ${Object.keys(walks).join(', ')}`);
    const gateway = await startGateway(walk === watchMany ? 'test/browser/crowd.js' : undefined);
    try {
      await walk(browser, gateway);
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
