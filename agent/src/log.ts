// The agent's log: one line each on standard error, as JSON or for people.

/** From the fewest lines to the most: those of the gateway, so that both can share an environment. */
export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFormat = 'json' | 'text';

/** Writes a line. Whoever calls it keeps secrets out of `details`. */
export type Log = (level: 'error' | 'warn' | 'info' | 'debug', text: string, details?: Record<string, unknown>) => void;

/** @param write where a line goes, with its line break. */
export function openLog(least: LogLevel, format: LogFormat, write: (line: string) => void): Log {
  return (level, text, details = {}) => {
    if (LOG_LEVELS.indexOf(level) > LOG_LEVELS.indexOf(least)) return;
    const time = new Date().toISOString();
    if (format === 'json') return write(`${JSON.stringify({ level, time, msg: text, ...details })}\n`);
    const facts = Object.entries(details).map(
      ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
    write(`${[time, level.toUpperCase().padEnd(5), text, ...facts].join(' ')}\n`);
  };
}
