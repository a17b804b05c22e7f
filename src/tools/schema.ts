// `npm run schema`: generates schema.graphql and the tables in the manual from the code. With `--check` it only reports
// whether they are current.

import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { lexicographicSortSchema, printSchema } from 'graphql';
import type { z } from 'zod';
import { errorTable } from '../api/errors/error-table.ts';
import { eventTypes } from '../api/resources/events/catalog.ts';
import { schema } from '../api/schema.ts';
import { environment } from '../config/variables.ts';
import { trafficObjects } from '../events/traffic/gateway-objects.ts';
import { visitorErrors } from '../http/visitor-errors.ts';
import { bindExtras, bindOptions, type OptionRule } from '../tunnel/bind/option-list.ts';
import { agentErrors } from '../tunnel/control/agent-errors.ts';

const root = resolve(import.meta.dirname, '../..');
const place = (name: string) => new RegExp(`(?<=<!-- ${name} -->\\n)[\\s\\S]*?(?=<!-- /${name} -->)`);

const files = {
  'schema.graphql': () => `${printSchema(lexicographicSortSchema(schema))}\n`,
  'src/manual/configuration.md': (current: string) => current.replace(place('variables'), variableRows),
  'src/manual/errors.md': (current: string) =>
    current
      .replace(place('errors'), errorRows)
      .replace(place('visitor errors'), visitorErrorRows)
      .replace(place('agent errors'), agentErrorRows),
  'src/manual/coming-from-the-original.md': (current: string) => current.replace(place('bind options'), bindOptionRows),
  'src/manual/events.md': (current: string) =>
    current.replace(place('event types'), eventTypeRows).replace(place('traffic fields'), trafficFieldRows),
};

function variableRows(): string {
  const rows = Object.entries(environment.shape).map(([name, type]) => {
    const { description = '', defaultText = defaultOf(type) } = type.meta() ?? {};
    return `| \`${name}\` | ${defaultText} | ${description} |\n`;
  });
  return `| Variable | Default | |\n|---|---|---|\n${rows.join('')}`;
}

function defaultOf(type: z.ZodType): string {
  const { success, data } = type.safeParse(undefined);
  if (!success || data === undefined) return '';
  if (Array.isArray(data)) return data.length > 0 ? `\`${data.join()}\`` : 'none';
  if (data === '') return 'empty';
  if (isRange(data)) return `\`${data.first}-${data.last}\``;
  return typeof data === 'number' ? String(data) : `\`${String(data)}\``;
}

function isRange(value: unknown): value is { first: number; last: number } {
  return typeof value === 'object' && value !== null && 'first' in value && 'last' in value;
}

function errorRows(): string {
  const rows = Object.values(errorTable)
    .toSorted(([a], [b]) => a - b)
    .map(
      ([number, status, code, text]) =>
        `| \`ERR_GATEWAY_${number}\` | ${status} | ${code} | ${text.replaceAll('|', '\\|')} |\n`,
    );
  return `| Error | Status | Code | What it says |\n|---|---|---|---|\n${rows.join('')}`;
}

function visitorErrorRows(): string {
  const rows = Object.values(visitorErrors)
    .toSorted((a, b) => a.number - b.number)
    .map(({ number, status, text }) => `| \`ERR_GATEWAY_${number}\` | ${status} | ${text.replaceAll('|', '\\|')} |\n`);
  return `| Error | Status | What it says |\n|---|---|---|\n${rows.join('')}`;
}

function agentErrorRows(): string {
  const rows = Object.values(agentErrors)
    .toSorted((a, b) => a.number - b.number)
    .map(({ number, text }) => `| \`ERR_GATEWAY_${number}\` | ${text.replaceAll('|', '\\|')} |\n`);
  return `| Error | What it says |\n|---|---|\n${rows.join('')}`;
}

function bindOptionRows(): string {
  const rowsOf = (options: Readonly<Record<string, OptionRule>>, within: string) =>
    Object.entries(options).map(([name, { effect, text }]) => `| \`${within}${name}\` | ${effect} | ${text} |\n`);
  return `| Option | | |\n|---|---|---|\n${[...rowsOf(bindOptions, ''), ...rowsOf(bindExtras, 'Extra.')].join('')}`;
}

function eventTypeRows(): string {
  const rows = eventTypes().map(({ name, class: kind, description }) => `| \`${name}\` | ${kind} | ${description} |\n`);
  return `| Event | Class | When |\n|---|---|---|\n${rows.join('')}`;
}

/** The fields of both event types in one table, as most are in both. */
function trafficFieldRows(): string {
  const { fields: ofRequests } = trafficObjects['http_request_complete.v0'];
  const { fields: ofConnections } = trafficObjects['tcp_connection_closed.v0'];
  const fields = new Map([...ofRequests, ...ofConnections].map((field) => [field.name, field]));
  const mark = (list: typeof ofRequests, name: string) => (list.some((field) => field.name === name) ? '•' : '');
  const rows = [...fields.values()]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(
      ({ name, type, description }) =>
        `| \`${name}\` | ${type} | ${mark(ofRequests, name)} | ${mark(ofConnections, name)} | ${description} |\n`,
    );
  const head = '| Field | Type | `http_request_complete.v0` | `tcp_connection_closed.v0` | What it says |';
  return `${head}\n|---|---|:-:|:-:|---|\n${rows.join('')}`;
}

for (const [name, print] of Object.entries(files)) {
  const file = resolve(root, name);
  const current = await readFile(file, 'utf8').catch(() => '');
  const text = print(current);
  if (text === current) continue;
  if (!process.argv.includes('--check')) await writeFile(file, text);
  else {
    process.stderr.write(`${name} is not what the code says: run \`npm run schema\` and commit it.\n`);
    process.exitCode = 1;
  }
}
