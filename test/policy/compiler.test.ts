// Policies are compiled piece by piece, in turn, and once.

import { describe, expect, test } from 'vitest';
import { compileOnce, IncrementalCompilation } from '../../src/policy/cel/compilation.ts';
import { compilePattern, sizeOfPattern } from '../../src/policy/cel/regex.ts';
import { CompileQueue } from '../../src/policy/compile/compile-queue.ts';

const KIND = {};

/** Something that compiles texts, 3 ms each by a clock of its own. */
function compiling(texts: readonly string[]) {
  let now = 0;
  const compiled: string[] = [];
  const compile = (text: string) =>
    compileOnce(KIND, text, () => {
      now += 3;
      compiled.push(text);
      if (text.startsWith('!')) throw new Error(text);
      return text.toUpperCase();
    });
  return { now: () => now, compiled, compile, work: () => texts.map(compile).join('') };
}

describe('a compilation', () => {
  test('stops after some milliseconds, goes on where it was, and compiles nothing twice', () => {
    const { now, compiled, work } = compiling(['a', 'b', 'c', 'a', 'd', 'e']);
    const compilation = new IncrementalCompilation(now);
    expect(compilation.step(work)).toBeUndefined();
    expect(compiled).toEqual(['a', 'b']);
    expect(compilation.step(work)).toBeUndefined();
    expect(compilation.step(work)).toEqual({ done: 'ABCADE' });
    expect(compiled).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(compilation.finish(work)).toBe('ABCADE');
    expect(compiled).toHaveLength(5);
  });

  test('keeps what was wrong, too', () => {
    const { now, compiled, compile } = compiling([]);
    const compilation = new IncrementalCompilation(now);
    const work = () =>
      ['a', '!b', 'c'].map((text) => (text === '!b' ? String(tried(() => compile(text))) : compile(text)));
    while (!compilation.step(work));
    expect(compilation.finish(work)).toEqual(['A', 'Error: !b', 'C']);
    expect(compiled).toEqual(['a', '!b', 'c']);
  });

  test('gets on although one text takes longer than a piece, with others within it', () => {
    const { now, compiled, compile } = compiling([]);
    const within = () => compileOnce(KIND, 'outer', () => ['x', 'y', 'z'].map(compile).join(''));
    const compilation = new IncrementalCompilation(now);
    expect(compilation.step(() => within() + compile('w'))).toBeUndefined();
    expect(compilation.step(() => within() + compile('w'))).toEqual({ done: 'XYZW' });
    expect(compiled).toEqual(['x', 'y', 'z', 'w']);
  });
});

function tried(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    // What ends a piece is not for whoever asks.
    if ((error as Error).message === '') throw error;
    return error;
  }
}

const busy = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

describe('the compiler', () => {
  test('lets another account in between the pieces of one', async () => {
    const policies = new CompileQueue();
    const order: string[] = [];
    const long = () => {
      for (let i = 0; i < 20; i++) compileOnce(KIND, `${i}`, () => busy(3));
    };
    const sent = [1, 2].map((i) => policies.compile('ac_1', `long ${i}`, long).then(() => order.push('long')));
    sent.push(policies.compile('ac_2', 'short', () => {}).then(() => order.push('short')));
    await Promise.all(sent);
    expect(order).toEqual(['short', 'long', 'long']);
  });

  test('gives an account a quarter of the time, once it has had half a second at once', async () => {
    let now = 0;
    let rested = 0;
    const pause = async (ms: number) => {
      now += ms;
      rested += ms;
    };
    const policies = new CompileQueue(() => now, pause);
    const compile = () => {
      now += 100;
    };
    // One after the other, each a policy of its own.
    for (let i = 0; i < 5; i++) await policies.compile('ac_1', `${i}`, () => compileOnce(KIND, `${i}`, compile));
    expect([now, rested]).toEqual([500, 0]);
    for (let i = 5; i < 25; i++) await policies.compile('ac_1', `${i}`, () => compileOnce(KIND, `${i}`, compile));
    expect(rested / now).toBeGreaterThan(0.6);
    expect(2500 / now).toBeLessThan(0.4);
    const before = rested;
    await policies.compile('ac_2', 'other', compile);
    expect(rested).toBe(before);
  });

  test('has what an account sends again compiled already, and nothing of another account', async () => {
    const policies = new CompileQueue();
    let compiled = 0;
    const work = () => compileOnce(KIND, 'text', () => ++compiled);
    await policies.compile('ac_1', 'policy', work);
    await policies.compile('ac_1', 'policy', work);
    expect(compiled).toBe(1);
    await policies.compile('ac_2', 'policy', work);
    expect(compiled).toBe(2);
    // More than is kept of an account.
    await policies.compile('ac_1', 'x'.repeat(64 * 1024), () => {});
    await policies.compile('ac_1', 'policy', work);
    expect(compiled).toBe(3);
  });

  test('answers with what went wrong, and goes on with the next', async () => {
    const policies = new CompileQueue();
    const wrong = policies.compile('ac_1', 'wrong', () => {
      throw new Error('wrong');
    });
    const right = policies.compile('ac_1', 'right', () => 'done');
    await expect(wrong).rejects.toThrow('wrong');
    expect(await right).toBe('done');
  });
});

describe('the size of a pattern', () => {
  test.each([
    ['abc', 3],
    ['(ab){10}', 20],
    ['((x{30}){30}){2}', 1800],
    ['[a-z{9}]{10}', 10],
    ['\\{9}x\\Q(a{5}\\E', 12],
    ['x{900}'.repeat(1300), 1_170_000],
    ['(', 0],
    [')x{', 3],
  ])('%s', (pattern, size) => {
    expect(sizeOfPattern(pattern)).toBeCloseTo(size, -1);
  });

  test('counts before it is compiled', () => {
    const start = process.cpuUsage();
    for (const pattern of ['x{900}'.repeat(1300), '\\pL|'.repeat(2000), '(?i)[\\pL]'.repeat(800)])
      expect(() => compilePattern(pattern)).toThrow('is too large');
    // Compiled, they take seconds.
    expect(process.cpuUsage(start).user).toBeLessThan(500_000);
  });
});
