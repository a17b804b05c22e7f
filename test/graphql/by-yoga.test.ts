// The tests of the engine, for the run in which all requests go through Yoga's adapter: in one file, as each worker that takes one
// loads the whole gateway.

import { describe } from 'vitest';

describe('compiled', async () => void (await import('./engine/compiled.test.ts')));
describe('documents', async () => void (await import('./engine/documents.test.ts')));
describe('heavy work', async () => void (await import('./engine/heavy-work.test.ts')));
describe('limits', async () => void (await import('./engine/limits.test.ts')));
describe('over HTTP', async () => void (await import('./engine/over-http.test.ts')));
describe('idempotency', async () => void (await import('./idempotency.test.ts')));
describe('subscriptions', async () => void (await import('./subscriptions.test.ts')));
