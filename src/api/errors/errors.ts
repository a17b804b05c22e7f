import { GraphQLError } from 'graphql';
import type { ErrorRow } from './error-row.ts';
import { type Code, type ErrorName, errorTable } from './error-table.ts';

export type { Code, ErrorName };
export type ErrorParameters = Record<string, string | number>;

/** How a member is called at the door where the error is shown. */
export type MemberNaming = (member: string) => string;

/**
 * The only error a resolver throws on purpose: a row of the error table and the parameters of its text. A parameter
 * `member` is the path of the member to blame, in camelCase; each door shows it in its own case.
 */
export class ApiError extends GraphQLError {
  readonly row: ErrorRow;
  readonly parameters: ErrorParameters;
  readonly status: number;

  /** @param parameters `number` stands in place of the row's own. */
  constructor(error: ErrorName | ErrorRow, parameters: ErrorParameters = {}) {
    const row = typeof error === 'string' ? errorTable[error] : error;
    const [ownNumber, status, code] = row;
    const number = parameters.number ?? ownNumber;
    const field = parameters.member ?? parameters.culprit;
    super(textOf(row, parameters), {
      extensions: { code, errorCode: `ERR_GATEWAY_${number}`, status, ...(field === undefined ? {} : { field }) },
    });
    this.row = row;
    this.parameters = parameters;
    this.status = status;
  }

  /** The text as a door shows it. */
  textFor(naming: MemberNaming): string {
    const { member } = this.parameters;
    return member === undefined
      ? this.message
      : textOf(this.row, { ...this.parameters, member: naming(String(member)) });
  }
}

function textOf([, , , text]: ErrorRow, parameters: ErrorParameters): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(parameters[name] ?? ''));
}

/** Unwraps a look-up, so that every missing thing answers alike: unknown, malformed, or another account's. */
export function requireFound<T>(row: T | null | undefined, noun: string): T {
  if (row === null || row === undefined) throw new ApiError('notFound', { kind: noun });
  return row;
}

/** Prisma's codes for a database that cannot be reached, does not answer, or has no connection to spare. */
const UNREACHABLE_CODES = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2037']);
const UNREACHABLE_TEXT =
  /ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|terminat|connection timeout|timeout exceeded when trying to connect|DatabaseNotReachable|ConnectionClosed|SocketTimeout|the database system is|server closed the connection/i;

/**
 * What a client may learn of an error. What was not thrown on purpose becomes `internal`, or `unavailable` when it
 * says that the database is away; `hidden` is then the error for the log.
 */
export function toApiError(error: unknown): { error: ApiError; internalError?: unknown } {
  // Executors wrap what a resolver throws.
  const thrown = (error as { originalError?: unknown }).originalError ?? error;
  if (thrown instanceof ApiError) return { error: thrown };
  if (error instanceof ApiError) return { error };
  // A GraphQLError that nothing of ours threw is the GraphQL library's word on the request; with a path it was thrown
  // while the operation ran, which is our fault.
  if (thrown instanceof GraphQLError && !thrown.path)
    return { error: new ApiError('badDocument', { reason: thrown.message }) };
  const name = isTimedOut(thrown)
    ? 'queryTooSlow'
    : isDiskFull(thrown)
      ? 'databaseFull'
      : isUnreachable(thrown)
        ? 'unavailable'
        : 'internal';
  return { error: new ApiError(name), internalError: thrown };
}

/** Whether the database ended a statement that took longer than it may (SQLSTATE 57014). */
function isTimedOut(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /statement timeout|57014/.test(error.message) || isTimedOut(error.cause);
}

/** Whether the database is not written to for want of room (SQLSTATE 25006 of the embedded one, 53100 of all). */
function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    /read-only transaction|25006|No space left on device|disk quota exceeded|53100/i.test(error.message) ||
    isDiskFull(error.cause)
  );
}

function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = '', meta } = error as { code?: unknown; meta?: { driverAdapterError?: unknown } };
  if (UNREACHABLE_CODES.has(String(code)) || UNREACHABLE_TEXT.test(`${code} ${error.message}`)) return true;
  // Prisma has one code for all that can happen to raw SQL, and keeps what has happened beside it.
  return isUnreachable(error.cause) || isUnreachable(meta?.driverAdapterError);
}
