/** Runs a command with its first argument; what goes wrong is one line on standard error, and exit code 1. */
export async function runTool(run: (argument: string | undefined) => Promise<void>): Promise<void> {
  try {
    await run(process.argv[2]);
  } catch (error) {
    // A server that does not answer at several addresses is an error without a message.
    const [first] = error instanceof AggregateError ? error.errors : [error];
    console.error(first instanceof Error ? first.message : String(first));
    process.exitCode = 1;
  }
}
