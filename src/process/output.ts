// The standard streams of a process, and its end.

import { LineWriter } from '../protocol/line-writer.ts';

/** The time in which the readers of the standard streams must take the last lines; milliseconds. */
const FLUSH_TIMEOUT_MS = 1000;

export interface Output {
  /** Standard output. */
  readonly out: LineWriter;
  /** Standard error, which has the log. */
  readonly logs: LineWriter;
  /** Ends the process when its output is written, or after a timeout. */
  exit(code: number): Promise<never>;
}

/** @param onDropped called with the number of log lines that nobody took. */
export function openOutput(onDropped: (dropped: number) => void): Output {
  const out = new LineWriter(1);
  const logs = new LineWriter(2, onDropped);
  return {
    out,
    logs,
    async exit(code) {
      await Promise.all([logs.flush(FLUSH_TIMEOUT_MS), out.flush(FLUSH_TIMEOUT_MS)]);
      process.exit(code);
    },
  };
}
