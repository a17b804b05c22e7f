// Counts the results for the last lines of `npm test`, and keeps what failed. Vitest's own counts leave out files that fail to load,
// and unhandled errors.

import { writeFileSync } from 'node:fs';

/**
 * @typedef {object} Summary what a run of the tests came to.
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {string[]} failures one line for each failure: where it is, and the first line of its error.
 */

/** A vitest reporter that writes a {@link Summary} to the file named by GATEWAY_TEST_SUMMARY. */
export default class SummaryReporter {
  /**
   * @param {readonly import('vitest/node').TestModule[]} modules
   * @param {readonly import('vitest').SerializedError[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    const failures = unhandledErrors.map((error) => failureLine('outside of tests', [error]));
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      const file = `${module.project.name} ${module.relativeModuleId}`;
      for (const holder of [module, ...module.children.allSuites()]) {
        if (holder.errors().length > 0) failures.push(failureLine(file, holder.errors()));
      }
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        // A test without a result counts as failed.
        if (state === 'passed' || state === 'skipped') counts[state]++;
        else failures.push(failureLine(`${file} > ${test.fullName}`, errors ?? []));
      }
    }
    writeFileSync(
      process.env.GATEWAY_TEST_SUMMARY ?? '',
      JSON.stringify({ ...counts, failed: failures.length, failures }),
    );
  }
}

/**
 * @param {string} place
 * @param {readonly { message: string }[]} errors
 */
function failureLine(place, [error]) {
  return `${place}: ${error?.message.split('\n')[0] ?? 'no result'}`;
}
