import { GraphQLError } from 'graphql';
import { errorCode } from './error-code.ts';
import type { ErrorRow } from './error-row.ts';
import { type Code, type ErrorName, errorTable } from './error-table.ts';

export type { Code, ErrorName };
export type ErrorParameters = Record<string, string | number>;

/** How a member is called at the door where the error is shown. */
export type MemberNaming = (member: string) => string;

/** Of an error whose `member` is one of a request, such as `operationName`, and not of an input. */
export const NO_PROBLEMS: readonly ApiError[] = [];

/** Names of members and indexes of lists, from outside to inside. */
export type InputPath = readonly (string | number)[];

/**
 * The only error a resolver throws on purpose: a row of the error table and the parameters of its text. A parameter
 * `member` is the path of the member to blame, in camelCase; each door shows it in its own case.
 */
export class ApiError extends GraphQLError {
  readonly row: ErrorRow;
  /** That of its code: of the row, unless its parameters have another. */
  readonly number: number;
  readonly parameters: ErrorParameters;
  readonly status: number;
  /** Where the member to blame stands in the arguments of a field, from the argument on; undefined while nobody has said so. */
  inputPath: InputPath | undefined;
  /** Whether problems were left out, which would have been too many. */
  readonly hasMoreProblems: boolean;
  readonly #problems: readonly ApiError[] | undefined;

  /** @param parameters `number` stands in place of the row's own. @param problems what it tells of; itself when left out. */
  constructor(
    error: ErrorName | ErrorRow,
    parameters: ErrorParameters = {},
    problems?: readonly ApiError[],
    hasMoreProblems = false,
  ) {
    const row = typeof error === 'string' ? errorTable[error] : error;
    const [ownNumber, status, code] = row;
    const number = Number(parameters.number ?? ownNumber);
    const field = parameters.member ?? parameters.culprit;
    super(textOf(row, parameters), {
      extensions: {
        code,
        errorCode: errorCode(number, 'documented'),
        status,
        ...(field === undefined ? {} : { field }),
      },
    });
    this.row = row;
    this.number = number;
    this.parameters = parameters;
    this.status = status;
    this.#problems = problems;
    this.hasMoreProblems = hasMoreProblems;
  }

  /** One error that tells of several problems of an input. Who reads but one error reads the first. */
  static ofAll(problems: readonly ApiError[], hasMore = false): ApiError {
    const [first] = problems;
    if (!first) throw new Error('There is no problem to tell of');
    return problems.length === 1 ? first : new ApiError(first.row, first.parameters, problems, hasMore);
  }

  /** The member that is to blame, in camelCase; undefined for an error that blames no member of an input. */
  get member(): string | undefined {
    const { member = this.row === errorTable.unknownMember ? this.parameters.culprit : undefined } = this.parameters;
    return member === undefined ? undefined : String(member);
  }

  /** The problems of the input that it tells of, each an error by itself; none where no member is to blame. */
  get problems(): readonly ApiError[] {
    return this.#problems ?? (this.member === undefined ? [] : [this]);
  }

  /** The text as a door shows it. */
  textFor(naming: MemberNaming): string {
    const { member } = this.parameters;
    return member === undefined
      ? this.message
      : textOf(this.row, { ...this.parameters, member: naming(String(member)) });
  }
}

/** A path that is written as a text: `headers.add`, `acl[0]`. */
export function readInputPath(member: string): InputPath {
  return [...member.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, name = '']) =>
    index === undefined ? name : Number(index),
  );
}

/** Rows that blame a member without its name in their texts. */
const UNNAMED: ReadonlySet<ErrorRow> = new Set([
  errorTable.unknownMember,
  errorTable.notYourOwner,
  errorTable.domainReservedByYou,
  errorTable.domainReservedByOther,
  errorTable.secondFactorNeeded,
]);

/** Whether an error with this row may blame a member of an input. */
export function canBlameMember(row: ErrorRow): boolean {
  return row[3].includes('{member}') || UNNAMED.has(row);
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
