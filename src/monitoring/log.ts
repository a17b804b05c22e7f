// The log: one JSON object per line. Secrets are never written.

import { type Logger, pino } from 'pino';
import type { Config } from '../config/config.ts';

/** Members whose values are never written, at any of the first three levels of a log line. */
const SECRET_MEMBERS = [
  'authorization',
  'cookie',
  'token',
  'apiKey',
  'api_key',
  'client_secret',
  'aws_secret_access_key',
];

/** @param write receives each line, with its line break. */
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
      redact: { paths: SECRET_MEMBERS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[secret]' },
    },
    stream,
  );
}

/**
 * Characters that a terminal acts on or shows as something else: control characters (C0, DEL, C1), invisible characters,
 * those that change the writing direction, and line separators.
 */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** The same except the line feed that ends the line. JSON itself escapes only those below U+0020. */
const CONTROLS_IN_JSON = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const escaped = (character: string) =>
  Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('');

/** Escapes control characters in a line of JSON. They can only be inside its strings, so the value stays the same. */
function withoutControls(line: string): string {
  return /[^\n\x20-\x7e]/.test(line) ? line.replace(CONTROLS_IN_JSON, escaped) : line;
}

/** Formats a line for `LOG_FORMAT=text`: time, level, message, then all other members. Values that others sent cannot imitate a line or a member. */
function asText(line: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const plain = (value: unknown) =>
    typeof value === 'string' && !/[\s"=]/.test(value) ? value : JSON.stringify(value);
  const facts = Object.entries(rest).map(([name, value]) => `${name}=${plain(value)}`);
  const head = [time, String(level).toUpperCase().padEnd(5), msg, ...facts].join(' ').replace(CONTROLS, escaped);
  const { stack } = (err ?? {}) as { stack?: string };
  // The stack is indented, because the message of an error may contain line breaks.
  const below = (stack?.split('\n') ?? []).map((row) => `\n    ${row.trim().replace(CONTROLS, escaped)}`);
  return `${head}${below.join('')}\n`;
}
