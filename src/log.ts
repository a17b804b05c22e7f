// Logs: one JSON object a line. Secrets never reach them.

import { type Logger, pino } from 'pino';
import type { Config } from './config.ts';

/** Names whose values are never written, wherever they turn up. */
const SECRETS = ['authorization', 'cookie', 'token', 'apiKey', 'api_key', 'client_secret', 'aws_secret_access_key'];

/** @param write where lines go, each with its line break. */
export function openLog(
  { logLevel, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>,
  write: (line: string) => void,
): Logger {
  const asWritten = logFormat === 'text' ? asText : withoutControls;
  const stream = { write: (line: string) => write(asWritten(line)) };
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

/**
 * What a terminal acts on, or shows as something else: control characters (C0, DEL, C1), invisible ones and those that
 * turn the direction of writing, and separators of lines.
 */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** The same but for the end of the line: of these JSON itself escapes only those below U+0020. */
const CONTROLS_IN_JSON = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const escaped = (character: string) =>
  Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('');

/** A line of JSON that says the same without them: they can only be inside its strings. */
function withoutControls(line: string): string {
  return /[^\n\x20-\x7e]/.test(line) ? line.replace(CONTROLS_IN_JSON, escaped) : line;
}

/** `LOG_FORMAT=text`: time, level, message, then what else the line says. What others sent cannot look like more of it. */
function asText(line: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const plain = (value: unknown) =>
    typeof value === 'string' && !/[\s"=]/.test(value) ? value : JSON.stringify(value);
  const facts = Object.entries(rest).map(([name, value]) => `${name}=${plain(value)}`);
  const head = [time, String(level).toUpperCase().padEnd(5), msg, ...facts].join(' ').replace(CONTROLS, escaped);
  const { stack } = (err ?? {}) as { stack?: string };
  // Indented: what an error says may have lines of its own.
  const below = (stack?.split('\n') ?? []).map((row) => `\n    ${row.trim().replace(CONTROLS, escaped)}`);
  return `${head}${below.join('')}\n`;
}
