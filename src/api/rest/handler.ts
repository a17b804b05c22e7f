// The one generic handler of REST: it runs a row's operation against the schema that GraphQL clients use. snake_case exists
// only in this folder.

import { snakeCase } from '../case.ts';
import { ApiError } from '../errors.ts';
import type { ApiExchange } from '../exchange.ts';
import { readInput, restInput } from '../graphql/input.ts';
import { runOperation } from '../graphql/run-operation.ts';
import type { Admit } from '../http/admission.ts';
import { checkContentType, hasBody, parseStrictly, readBody } from '../http/request-body.ts';
import { sendJson } from '../http/responses.ts';
import { PAGE_MAX } from '../page.ts';
import type { Row } from './rows.ts';

/**
 * Answers a request that belongs to a row.
 * @param parameters of the path.
 */
export async function runRow(
  row: Row,
  parameters: Record<string, string>,
  exchange: ApiExchange,
  admit: Admit,
): Promise<void> {
  const context = await admit(exchange);
  const variables = await readVariables(row, parameters, exchange);
  const operation = row.operation();
  const { data, errors } = await runOperation(operation, variables, context, restInput);
  if (errors?.[0]) throw errors[0];
  const body = (data as Record<string, unknown>)[row.field];
  if (row.status === 204) exchange.response.writeHead(204).end();
  else sendJson(exchange, row.status, body, !operation.holdsSecrets);
}

async function readVariables(
  row: Row,
  parameters: Record<string, string>,
  { request }: ApiExchange,
): Promise<Record<string, unknown>> {
  const variables: Record<string, unknown> = {};
  let bringsBody = hasBody(request);
  const isUnexpected = !row.takesBody && (row.method === 'GET' || row.method === 'DELETE');
  if (bringsBody && !isUnexpected) checkContentType(request);
  // Some clients send an empty object along with every DELETE.
  if (bringsBody && isUnexpected && !(row.method === 'DELETE' && isEmpty(await readBody(request))))
    throw new ApiError('unexpectedBody', { method: request.method ?? row.method });
  if (isUnexpected) bringsBody = false;
  const body = bringsBody ? parseStrictly(await readBody(request)) : {};
  if (row.takesBody) variables.input = inputOf(row, body, parameters);
  else if (Object.keys(body).length > 0)
    throw new ApiError('unknownMember', { culprit: Object.keys(body)[0] ?? '', known: 'none' });

  readQuery(row, request.url ?? '', variables);
  for (const name of row.pathArguments) variables[name] = parameters[snakeCase(name)];
  if (row.takesKey && request.headers['idempotency-key'] !== undefined)
    variables.idempotencyKey = String(request.headers['idempotency-key']);
  return variables;
}

function isEmpty(body: Buffer): boolean {
  return /^\s*(\{\s*\})?\s*$/.test(body.toString());
}

/**
 * The body without what clients send along that is not the operation's input: what the path says already, and members that
 * are only ever empty here.
 * @throws {ApiError} where such a member says more than that.
 */
function inputOf(
  { pathArguments, unavailable = [], inputMembers }: Row,
  input: Record<string, unknown>,
  parameters: Record<string, string>,
): object {
  for (const name of [...pathArguments.map(snakeCase), ...unavailable]) {
    const value = input[name];
    if (value === undefined || inputMembers.has(name)) continue;
    const isEmpty = value === null || value === '';
    if (!isEmpty && unavailable.includes(name)) throw new ApiError('memberUnavailable', { member: name });
    if (!isEmpty && value !== parameters[name]) throw new ApiError('pathMemberDiffers', { member: name });
    delete input[name];
  }
  return input;
}

function readQuery({ queryArguments }: Row, url: string, variables: Record<string, unknown>): void {
  const start = url.indexOf('?');
  if (start < 0) return;
  for (const [name, value] of new URLSearchParams(url.slice(start + 1))) {
    const argument = queryArguments.get(name);
    if (!argument)
      throw new ApiError('unknownParameter', { culprit: name, known: [...queryArguments.keys()].join(', ') || 'none' });
    if (argument.name in variables) throw new ApiError('repeatedParameter', { culprit: name });
    variables[argument.name] =
      argument.name === 'first' ? readLimit(value) : readInput(argument.type, value, name, restInput);
  }
}

function readLimit(text: string): number {
  if (!/^-?\d{1,9}$/.test(text)) throw new ApiError('limitNotANumber', { member: 'limit', max: PAGE_MAX });
  return Number(text);
}
