// Runs the commands in this folder.

import { giveAddressesTime } from '../protocol/address-attempts.ts';

/** Runs a command with its arguments. A failure prints one line to standard error and sets exit code 1. */
export async function runTool(run: (...given: string[]) => Promise<void>): Promise<void> {
  giveAddressesTime();
  try {
    await run(...process.argv.slice(2));
  } catch (error) {
    // A failed connection to several addresses is an error without a message of its own.
    const [first] = error instanceof AggregateError ? error.errors : [error];
    console.error(first instanceof Error ? first.message : String(first));
    process.exitCode = 1;
  }
}
