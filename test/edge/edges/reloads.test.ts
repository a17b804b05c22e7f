import { expect, onTestFinished, test } from 'vitest';
import { ReloadQueue, type Scope } from '../../../src/edge/edges/reload-queue.ts';

/** Reloads that end when the test says so. */
function held(retryMs?: number) {
  const runs: { scope: Scope; done(): void; fail(error: Error): void }[] = [];
  const failures: string[] = [];
  const reloads = new ReloadQueue({
    work: (scope) => new Promise((done, fail) => void runs.push({ scope: scope && [...scope].sort(), done, fail })),
    onFailure: (error) => void failures.push((error as Error).message),
    retryMs,
  });
  onTestFinished(() => reloads.close());
  const settled: string[] = [];
  const ask = (name: string, scope: Scope) => void reloads.ask(scope).then(() => settled.push(name));
  const scopes = () => runs.map(({ scope }) => scope);
  return { runs, failures, reloads, settled, ask, scopes };
}

test('what is asked for meanwhile is reloaded next, together, and nobody is answered by a reload that began before', async () => {
  const { runs, settled, ask, scopes } = held();
  ask('first', ['a']);
  ask('second', ['b']);
  ask('third', ['c', 'b']);
  expect(scopes()).toEqual([['a']]);
  runs[0]?.done();
  await expect.poll(() => runs.length).toBe(2);
  expect(settled).toEqual(['first']);
  ask('fourth', ['a']);
  expect(scopes()).toEqual([['a'], ['b', 'c']]);
  runs[1]?.done();
  await expect.poll(() => runs.length).toBe(3);
  expect(settled).toEqual(['first', 'second', 'third']);
  runs[2]?.done();
  await expect.poll(() => settled.length).toBe(4);
  expect(scopes()).toEqual([['a'], ['b', 'c'], ['a']]);
});

test('together with all accounts, single ones need no reload of their own', async () => {
  const { runs, ask, scopes } = held();
  ask('first', ['a']);
  ask('second', ['b']);
  ask('third', null);
  ask('fourth', ['c']);
  runs[0]?.done();
  await expect.poll(() => runs.length).toBe(2);
  expect(scopes()).toEqual([['a'], null]);
});

test('a reload that fails is tried again, with what came meanwhile, until it works; the log hears of it once', async () => {
  const { runs, failures, settled, ask, scopes } = held(1);
  ask('first', ['a']);
  ask('second', ['b']);
  runs[0]?.fail(new Error('away'));
  await expect.poll(() => runs.length).toBe(2);
  runs[1]?.fail(new Error('still away'));
  await expect.poll(() => runs.length).toBe(3);
  expect(scopes()).toEqual([['a'], ['a', 'b'], ['a', 'b']]);
  expect(failures).toEqual(['away']);
  expect(settled).toEqual([]);
  runs[2]?.done();
  await expect.poll(() => settled).toEqual(['second', 'first']);

  ask('third', ['c']);
  runs[3]?.fail(new Error('away again'));
  await expect.poll(() => failures).toEqual(['away', 'away again']);
});

test('when it is closed, nobody is left waiting and nothing is reloaded', async () => {
  const { runs, failures, reloads, settled, ask } = held(60_000);
  ask('first', ['a']);
  ask('second', ['b']);
  runs[0]?.fail(new Error('away'));
  await expect.poll(() => failures).toEqual(['away']);
  expect(settled).toEqual([]);
  reloads.close();
  await expect.poll(() => settled.toSorted()).toEqual(['first', 'second']);
  await reloads.ask(null);
  expect(runs).toHaveLength(1);
});
