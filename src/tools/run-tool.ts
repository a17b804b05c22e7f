/** Runs a command with its first argument; what goes wrong is one line on standard error, and exit code 1. */
export async function runTool(run: (argument: string | undefined) => Promise<void>): Promise<void> {
  try {
    await run(process.argv[2]);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
