// The agent's log: one line for each entry, as JSON or as text.

/** The levels, from the fewest lines to the most. The gateway has the same, so that both can share an environment. */
export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFormat = 'json' | 'text';

/** Logs an entry. The caller keeps secrets out of `details`. */
export type Log = (level: 'error' | 'warn' | 'info' | 'debug', text: string, details?: Record<string, unknown>) => void;

/** Opens a log. @param level the least severe level to log. @param write called with each line and its line break. */
export function openLog(minLevel: LogLevel, format: LogFormat, write: (line: string) => void): Log {
  return (level, text, details = {}) => {
    if (LOG_LEVELS.indexOf(level) > LOG_LEVELS.indexOf(minLevel)) return;
    const time = new Date().toISOString();
    if (format === 'json') return write(`${JSON.stringify({ level, time, msg: text, ...details })}\n`);
    const pairs = Object.entries(details).map(
      ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
    write(`${[time, level.toUpperCase().padEnd(5), text, ...pairs].join(' ')}\n`);
  };
}
