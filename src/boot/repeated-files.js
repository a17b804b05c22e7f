// Files of tests that failed run once more, each alone: one that passes then did not fail for what was changed, as a rule, but by
// its neighbours, or by chance.

import { join } from 'node:path';
import { root } from './command.js';

/** More failed files than this are no coincidence. */
const MOST_FILES = 10;

/** Options that choose among files, or that say how they run beside each other. Each of them has a value, or may have one. */
const CHOOSING = /^--(project|shard|maxWorkers|max-workers)(=|$)/;

/** @typedef {import('./summary-reporter.js').Results} Results */
/** @typedef {import('./summary-reporter.js').FileResult} FileResult */

/**
 * Returns the files that are worth another run: none when an error cannot be told to a file, when no file could be loaded, or
 * when there are too many, as the whole fails in any case then.
 * @param {Results} results
 */
export function filesToRepeat({ files, outside }) {
  const failed = files.filter(({ failures }) => failures.length > 0);
  const isWorthIt = outside.length === 0 && files.some(({ isLoaded }) => isLoaded) && failed.length <= MOST_FILES;
  return isWorthIt ? failed : [];
}

/**
 * Returns the arguments of vitest without those that choose files; undefined when the first run may have left tests out after a
 * failure.
 * @param {readonly string[]} args
 */
export async function optionsToRepeat(args) {
  // It takes a while to load, and only a parser knows which words are values of options.
  const { parseCLI } = await import('vitest/node');
  const { filter, options } = parseCLI(['vitest', 'run', ...args]);
  if (options.bail) return undefined;
  return optionsAmong(args, filter, CHOOSING);
}

/**
 * Returns arguments of vitest without the words and without some options.
 * @param {readonly string[]} args
 * @param {readonly string[]} words
 * @param {RegExp} without matches the name of such an option, and a `=` behind it.
 */
export function optionsAmong(args, words, without) {
  const kept = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (words.includes(arg)) continue;
    const [isLeftOut, equals] = [without.test(arg), arg.includes('=')];
    if (!isLeftOut) kept.push(arg);
    else if (!equals && !args[at + 1]?.startsWith('-')) at++;
  }
  return kept;
}

/**
 * Runs a file once more, alone.
 * @param {FileResult} file
 * @param {string[]} options
 * @param {(args: string[]) => Promise<{ code: number, results?: Results }>} vitest
 * @returns {Promise<FileResult | undefined>} what it came to if it passed.
 */
export async function repeat({ project, file }, options, vitest) {
  process.stdout.write(`\nOnce more, alone: ${project} ${file}\n`);
  const { code, results } = await vitest([...options, `--project=${project}`, '--maxWorkers=1', join(root, file)]);
  const repeated = results?.files.find((result) => result.project === project && result.file === file);
  return code === 0 && repeated && repeated.passed > 0 ? repeated : undefined;
}
