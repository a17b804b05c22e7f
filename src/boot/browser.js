// `npm run test:browser`: GraphiQL in a real browser, where Chromium is installed.

import { prepare } from './prepare.js';

await prepare();
await import(new URL('../../test/browser/main.js', import.meta.url).href);
