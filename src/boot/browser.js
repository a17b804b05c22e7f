// `npm run test:browser`: tests the dashboard and GraphiQL in a real browser, when Chromium is installed.

import { prepare } from './prepare.js';

await prepare();
await import(new URL('../../test/browser/main.js', import.meta.url).href);
