// Counts the results for the last line of `npm test`. Vitest's own counts leave out files that fail to load, and
// unhandled errors.

import { writeFileSync } from 'node:fs';

/** A vitest reporter that writes the counts to the file named by GATEWAY_TEST_SUMMARY. */
export default class SummaryReporter {
  /**
   * @param {readonly import('vitest/node').TestModule[]} modules
   * @param {readonly unknown[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    const summary = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      for (const holder of [module, ...module.children.allSuites()]) if (holder.errors().length > 0) summary.failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        // A test without a result counts as failed.
        summary[state === 'pending' ? 'failed' : state]++;
      }
    }
    writeFileSync(process.env.GATEWAY_TEST_SUMMARY ?? '', JSON.stringify(summary));
  }
}
