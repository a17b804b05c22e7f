// Counts the results for the last lines of `npm test`, and keeps what failed. Vitest's own counts leave out files that fail to load,
// and unhandled errors.

import { writeFileSync } from 'node:fs';

/**
 * @typedef {object} Failure
 * @property {string} test its full name; empty when it is the file that failed, or one of its suites.
 * @property {string} message the first line of its error.
 *
 * @typedef {object} FileResult what a project's run of a file came to.
 * @property {string} project
 * @property {string} file relative to the repository.
 * @property {number} seconds wall time: to load it, and to run its tests and hooks.
 * @property {boolean} isLoaded whether its tests are known.
 * @property {number} passed
 * @property {number} skipped
 * @property {Failure[]} failures
 *
 * @typedef {object} Results what a run of vitest came to.
 * @property {FileResult[]} files
 * @property {string[]} outside the first lines of errors outside of tests, of which nobody can tell the file.
 */

/** A vitest reporter that writes {@link Results} to the file named by GATEWAY_TEST_SUMMARY. */
export default class SummaryReporter {
  /**
   * @param {readonly import('vitest/node').TestModule[]} modules
   * @param {readonly import('vitest').SerializedError[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    const results = modules.map((module) => ({ module, result: resultOf(module) }));
    const outside = [];
    for (const error of unhandledErrors) {
      // Vitest tells which file ran at that time, but an earlier file of the worker may have left behind what failed. The stack
      // does not tell the project: of those that ran tests of the file, it may be any.
      const origins = results.filter(
        ({ module, result }) =>
          error.stack?.includes(`${module.moduleId}:`) && result.passed + result.failures.length > 0,
      );
      const message = firstLine([error]);
      for (const { result } of origins) result.failures.push({ test: 'outside of tests', message });
      if (origins.length === 0) outside.push(message);
    }
    /** @type {Results} */
    const written = { files: results.map(({ result }) => result), outside };
    writeFileSync(process.env.GATEWAY_TEST_SUMMARY ?? '', JSON.stringify(written));
  }
}

/**
 * @param {import('vitest/node').TestModule} module
 * @returns {FileResult}
 */
function resultOf(module) {
  const counts = { passed: 0, skipped: 0 };
  /** @type {Failure[]} */
  const failures = [];
  for (const holder of [module, ...module.children.allSuites()]) {
    if (holder.errors().length > 0) failures.push({ test: '', message: firstLine(holder.errors()) });
  }
  const tests = [...module.children.allTests()];
  for (const test of tests) {
    const { state, errors } = test.result();
    // A test without a result counts as failed.
    if (state === 'passed' || state === 'skipped') counts[state]++;
    else failures.push({ test: test.fullName, message: firstLine(errors ?? []) });
  }
  const { setupDuration, collectDuration, duration } = module.diagnostic();
  return {
    project: module.project.name,
    file: module.relativeModuleId,
    seconds: (setupDuration + collectDuration + duration) / 1000,
    isLoaded: tests.length > 0,
    ...counts,
    failures,
  };
}

/** @param {readonly { message: string }[]} errors */
function firstLine([error]) {
  return error?.message.split('\n')[0] ?? 'no result';
}
