// Logs: one JSON object a line, on standard error. Secrets never reach them.

import { type Logger, pino } from 'pino';
import type { Config } from './config.ts';

/** Names whose values are never written, wherever they turn up. */
const SECRETS = ['authorization', 'cookie', 'token', 'apiKey', 'api_key', 'client_secret', 'aws_secret_access_key'];

export function openLog({ logLevel, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>): Logger {
  const stream =
    logFormat === 'text'
      ? { write: (line: string) => void process.stderr.write(asText(line)) }
      : pino.destination({ fd: 2, sync: true });
  return pino(
    {
      level: logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[secret]' },
    },
    stream,
  );
}

/** `LOG_FORMAT=text`: time, level, message, then what else the line says. */
function asText(line: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const facts = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const stack = (err as { stack?: string } | undefined)?.stack;
  return `${[time, String(level).toUpperCase().padEnd(5), msg, ...facts].join(' ')}${stack ? `\n${stack}` : ''}\n`;
}
