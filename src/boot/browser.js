// `npm run test:browser`: the dashboard and GraphiQL in a real browser, where Chromium is installed.

import { prepare } from './prepare.js';

await prepare();
await import(new URL('../../test/browser/main.js', import.meta.url).href);
